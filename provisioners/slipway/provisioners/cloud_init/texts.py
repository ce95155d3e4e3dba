"""Content as it can stand in the document: a block of text, quoted text, base64, or text with templates.

Everything but a block costs space or readability, and some texts survive in one form only. The choice is made
here, once, for files and commands alike.
"""

import base64
import re
from collections.abc import Iterable

from slipway.provisioners.cloud_init.document import Template, Templated, Value
from slipway.sdk import RenderContext
from slipway.v1alpha1 import content_pb2 as contentpb

_PRINTABLE = r"\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd"
# What YAML cannot hold as it is, or what a reader on the way may change.
_UNSAFE = re.compile(rf"[^\t\n{_PRINTABLE}\U00010000-\U0010ffff]")
# What the emitter does not write as a literal block.
_NO_BLOCK = re.compile(rf"[^\n{_PRINTABLE}]| \n| \Z")

Text = str | Templated


def content_entry(content: contentpb.Content, ctx: RenderContext, path: str) -> dict[str, Value] | None:
    """Give `content` and `encoding` of an entry of write_files; None when there is no way to write it."""
    if any(segment.HasField("template") for segment in content.segments):
        text = script(content, ctx, path)
        return None if text is None else {"content": text}
    data = ctx.content(content, path)
    packed = base64.b64encode(data).decode()
    try:
        literal = data.decode()
    except UnicodeDecodeError:
        return {"encoding": "b64", "content": packed}
    if _UNSAFE.search(literal) or (_NO_BLOCK.search(literal) and _quoted_length(literal) > len(packed)):
        return {"encoding": "b64", "content": packed}
    return {"content": literal} if literal else {}


def script(content: contentpb.Content, ctx: RenderContext, path: str) -> Text | None:
    """Give a content as text; None when it has characters that cannot stand there."""
    pieces: list[str | Template] = []
    for index, segment in enumerate(content.segments):
        if segment.HasField("template"):
            pieces.append(Template(segment.template.text))
            continue
        try:
            pieces.append(ctx.segment(segment, f"{path}.segments[{index}]").decode())
        except UnicodeDecodeError:
            return None
    return _joined(pieces)


def line(segments: Iterable[contentpb.TextSegment]) -> Text | None:
    """Give a command line as text; None when it has characters that cannot stand there."""
    return _joined([Template(part.template.text) if part.HasField("template") else part.text for part in segments])


def _joined(pieces: list[str | Template]) -> Text | None:
    text = "".join(piece if isinstance(piece, str) else piece.text for piece in pieces)
    if _UNSAFE.search(text):
        return None
    if all(isinstance(piece, str) for piece in pieces):
        return text
    # A template is no blank, whatever it will give.
    around = "".join(piece if isinstance(piece, str) else "x" for piece in pieces)
    return None if _NO_BLOCK.search(around) else Templated(tuple(pieces))


def _quoted_length(text: str) -> int:
    return len(text) + sum(text.count(char) for char in '\n\t"\\')
