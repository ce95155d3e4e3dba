"""No text of a spec holds a NUL character, but contents of files, which may be anything.

It ends a string in every program on the machine: what stands behind it would be lost there without a word.
"""

from collections.abc import Iterator

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from slipway.contract.errors import Violation
from slipway.v1alpha1 import content_pb2 as contentpb

_CONTENTS = frozenset(
    each.DESCRIPTOR.full_name for each in (contentpb.Content, contentpb.Segment, contentpb.ExtensionText)
)
"""Messages whose own text is a file's content; what they hold arrives byte for byte."""


def violations(message: Message, path: str = "") -> Iterator[Violation]:
    """Give every text field with a NUL character, by its field path."""
    for field, value in message.ListFields():
        where = f"{path}.{field.name}" if path else field.name
        is_text = field.type == FieldDescriptor.TYPE_STRING and message.DESCRIPTOR.full_name not in _CONTENTS
        if not is_text and field.message_type is None:
            continue
        for index, entry in enumerate(value if field.is_repeated else [value]):
            here = f"{where}[{index}]" if field.is_repeated else where
            if isinstance(entry, Message):
                yield from violations(entry, here)
            elif "\x00" in entry:
                yield Violation(here, "cannot hold a NUL character")
