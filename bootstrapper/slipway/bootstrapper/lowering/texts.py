"""Short texts and contents whose parts may be known only on the machine."""

from collections.abc import Iterable

from slipway.bootstrapper.lowering.draft import CannotLower
from slipway.contract.content import literal
from slipway.contract.items import Item
from slipway.v1alpha1 import content_pb2 as contentpb


def has_extension(segments: Iterable[contentpb.Segment | contentpb.TextSegment]) -> bool:
    """Return whether a part is in a language that only its own provisioner renders."""
    return any(segment.WhichOneof("value") == "extension" for segment in segments)


def refuse_control_characters(item: Item, text: str) -> None:
    """Let a text pass that fits on one line.

    Raises:
        CannotLower: it does not, and no machine would take it.
    """
    if any(ord(char) < ord(" ") or char == "\x7f" for char in text):
        raise CannotLower(item, f"a text of {item.feature} holds control characters", remedy="take them out")


def text_line(text: contentpb.MachineText) -> contentpb.Content:
    """Give the content of a file that holds the text as its one line; texts of extensions have been refused before."""
    if not text.segments:
        return literal(f"{text.value}\n".encode())
    content = contentpb.Content()
    for segment in text.segments:
        if segment.WhichOneof("value") == "fact":
            content.segments.add().fact.CopyFrom(segment.fact)
        elif segment.text:
            content.segments.add(data=segment.text.encode())
    content.segments.add(data=b"\n")
    return content


def literal_bytes(content: contentpb.Content) -> bytes | None:
    """Give the bytes of a content that is literal as a whole, else None."""
    if any(segment.WhichOneof("value") not in {"data", "text"} for segment in content.segments):
        return None
    kind = content.WhichOneof("source")
    if kind == "secret_ref":
        return None
    whole = {"text": content.text.encode(), "data": content.data}.get(kind or "", b"")
    return whole + b"".join(segment.data or segment.text.encode() for segment in content.segments)
