"""What the document of an imported spec keeps of the config that it came from: the format that it was written for.

Commands of such a config may edit what today's provider puts on the machine in that format. Which do is found in the
document itself, so that the spec is free as soon as they are gone.
"""

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

from slipway.bootstrapper.documents.mistakes import Found
from slipway.bootstrapper.importers.mapping import commands
from slipway.bootstrapper.importers.mapping.context import FORMATS
from slipway.contract.source_position import FieldPath
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import spec_pb2 as specpb

ANNOTATION = "bootstrap.slipway.dev/imported-format"
_PLACE = ("metadata", "annotations", ANNOTATION)
_PHASES = ("boot", "pre", "post")


def annotations(spec: specpb.MachineBootstrapSpec) -> dict[str, str]:
    """Give what the metadata of a spec's document says of its import."""
    return {ANNOTATION: spec.imported.format} if spec.imported.format else {}


def set_imported(
    spec: specpb.MachineBootstrapSpec, document: Any, *, at: FieldPath, origin: str, path: str
) -> Iterator[Found]:
    """Set what metadata say of an import, and give what is wrong with it.

    Args:
        spec: the spec of the document.
        document: the document.
        at: the place in it of what has the metadata: the document itself, or the template in it.
        origin: kind and name of the document.
        path: path of the spec in it.
    """
    name = _named(reduce(_member, at, document))
    if name is None:
        return
    if not isinstance(name, str) or name not in FORMATS:
        yield (*at, *_PLACE), f"must be {' or '.join(FORMATS)}"
        return
    spec.imported.format = name
    for phase in _PHASES:
        for index, command in enumerate(getattr(spec.commands, phase)):
            if commands.binds(_text(command.script), name):
                place = f"{path}.commands.{phase}[{index}]"
                spec.imported.bound_by.append(diagnosticpb.Origin(document=origin, path=place))


def misplaced(document: Any) -> Iterator[Found]:
    """Find the annotation on a template itself: Cluster API gives configs what stands inside the template."""
    if _named(document) is not None:
        yield _PLACE, "belongs to spec.template.metadata, from where configs have it"


def _named(holder: Any) -> Any:
    return reduce(_member, _PLACE, holder)


def _member(tree: Any, key: str | int) -> Any:
    return tree.get(key) if isinstance(tree, Mapping) else None


def _text(content: contentpb.Content) -> str:
    return content.text or "".join(part.text or part.extension.text for part in content.segments)
