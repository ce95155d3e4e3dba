"""Whether Jinja takes a document: where it does not, cloud-init drops all of it, and says so on the machine only.

It is parsed and never rendered, nor are its constants computed. Source of the settings: cloud-init's templater.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from slipway.provisioners.cloud_init.features import ITEM
from slipway.sdk import RenderContext
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb

if TYPE_CHECKING:
    from jinja2 import Environment

_LITERAL = "x"
"""Stands for text that is no template, in which nothing is read as one."""


def refuse_mistakes(bundle: bundlepb.BootstrapBundle, document: str, ctx: RenderContext) -> None:
    """Refuse the texts that are no templates; everything with templates where only all of it together is invalid."""
    if is_template(document):
        return
    texts = list(_texts(bundle))
    whole = [(path, feature) for path, feature, _ in texts]
    whole += [(f"extensions[{i}]", f"ext.{ITEM}") for i, each in enumerate(bundle.extensions) if each.id == ITEM]
    for path, feature in [(path, feature) for path, feature, text in texts if not is_template(text)] or whole:
        why = "is no template of Jinja, for which cloud-init would drop the whole document"
        ctx.refuse(path, feature, why, remedy="correct it, or write what is no template as text")


def is_template(text: str) -> bool:
    """Return whether Jinja can parse a text; one that nests too deeply for it counts as none."""
    from jinja2 import TemplateSyntaxError  # noqa: PLC0415 - few documents have templates

    try:
        _environment().parse(text)
    except (TemplateSyntaxError, RecursionError):
        return False
    return True


@cache
def _environment() -> "Environment":
    from jinja2 import Environment  # noqa: PLC0415  # loaded only where a spec has a template

    return Environment(trim_blocks=True, extensions=["jinja2.ext.do"])  # noqa: S701 - it renders nothing


def _texts(bundle: bundlepb.BootstrapBundle) -> Iterator[tuple[str, str, str]]:
    """Give field path, feature and text of what holds templates."""
    parts: list[tuple[str, str, Sequence[contentpb.Segment | contentpb.TextSegment]]] = [
        *(
            (f"os.files[{i}].content", "os.files.extensions", each.content.segments)
            for i, each in enumerate(bundle.os.files)
        ),
        *(
            (f"commands.boot[{i}].script", "os.commands.boot.script.extensions", each.script.segments)
            for i, each in enumerate(bundle.commands.boot)
        ),
        *(
            (f"plan.entrypoint.commands[{i}]", "plan.entrypoint.extensions", each.segments)
            for i, each in enumerate(bundle.plan.entrypoint.commands)
        ),
    ]
    for path, feature, segments in parts:
        if any(segment.HasField("extension") for segment in segments):
            yield (
                path,
                feature,
                "".join(each.extension.text if each.HasField("extension") else _LITERAL for each in segments),
            )
