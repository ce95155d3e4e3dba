"""Finds facts and Jinja side by side in a text that is written as one: only cloud-init could, and it takes no facts.

A file that holds both can be rendered by nobody: a fact is filled in on the machine by our own program, Jinja by
cloud-init alone. Then the facts have to stay Jinja too, as they are today.
"""

from collections.abc import Iterator

from google.protobuf.message import Message

from slipway.contract.field_plans import plan
from slipway.v1alpha1 import spec_pb2 as specpb

_ONE_FILE_EACH = frozenset({"os", "commands"})
"""Parts of a spec in which each text is a file of its own; all others end up in kubeadm's one file."""


def mixed(spec: specpb.MachineBootstrapSpec) -> bool:
    """Return whether a file that will be made of the spec holds both facts and Jinja."""
    together: set[str] = set()
    for part, kinds in _texts(spec, part=""):
        if part in _ONE_FILE_EACH:
            if len(kinds) > 1:
                return True
        else:
            together |= kinds
    return len(together) > 1


def _texts(message: Message, *, part: str) -> Iterator[tuple[str, set[str]]]:
    """Give every text that is put together: in which part of the spec, and "fact" and "extension" as far as in it."""
    segments = getattr(message, "segments", ())
    if segments:
        yield part, {str(segment.WhichOneof("value")) for segment in segments} & {"fact", "extension"}
        return
    for descriptor, value in message.ListFields():
        field = plan(message.DESCRIPTOR)[descriptor.number]
        if field.message is None:
            continue
        inner = part or ("" if field.name in {"init", "join"} else field.name)
        for entry in value if field.repeated else [value]:
            yield from _texts(entry, part=inner)
