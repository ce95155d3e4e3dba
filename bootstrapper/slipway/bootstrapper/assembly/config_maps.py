"""Puts the values of ConfigMaps in the place of the references to them.

A bundle never refers to a ConfigMap: whoever can read them (the controller, or a reader of manifests) calls this with
what it has, before the spec becomes a bundle. What stays a reference is refused later, by its field path.
"""

from collections.abc import Iterator, Mapping

from google.protobuf.message import Message

from slipway.contract.field_plans import plan
from slipway.v1alpha1 import content_pb2 as contentpb

Values = Mapping[tuple[str, str], bytes]
"""Values of ConfigMaps, by name and key."""


def contents_by_config_map(message: Message, path: str = "") -> Iterator[tuple[str, contentpb.Content]]:
    """Give every content in `message` that refers to a ConfigMap, with its field path."""
    for descriptor, value in message.ListFields():
        field = plan(message.DESCRIPTOR)[descriptor.number]
        if field.message is None:
            continue
        where = f"{path}.{field.name}" if path else field.name
        for index, entry in enumerate(value if field.repeated else [value]):
            here = f"{where}[{index}]" if field.repeated else where
            if isinstance(entry, contentpb.Content):
                if entry.WhichOneof("source") == "config_map_ref":
                    yield here, entry
            else:
                yield from contents_by_config_map(entry, here)


def fill(message: Message, values: Values) -> None:
    """Replace every reference in `message` whose value is known; the value arrives byte for byte."""
    for _, content in list(contents_by_config_map(message)):
        value = values.get((content.config_map_ref.name, content.config_map_ref.key))
        if value is not None:
            content.data = value
