"""Content as it can stand in the document: a block of text, quoted text, base64, or text with templates.

A template is a text of the extension `cloud-init.slipway.dev/jinja`: Jinja, which cloud-init renders on the machine.

Everything but a block costs space or readability, and some texts survive in one form only. The choice is made
here, once, for files and commands alike.
"""

import base64
import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from slipway.provisioners.cloud_init.document import PRINTABLE, UNSAFE, Template, Templated, Value
from slipway.provisioners.cloud_init.features import JINJA
from slipway.sdk import RenderContext
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import spec_pb2 as specpb

# A first line of blanks has no indentation, by which a block would begin.
_BLANK_FIRST = re.compile(r"\n*+ ++(?:\n|\Z)")
# What the emitter does not write as a literal block.
_NO_BLOCK = re.compile(rf"[^\n{PRINTABLE}]| \n| \Z")

Text = str | Templated


def content_entry(content: contentpb.Content, ctx: RenderContext, path: str) -> dict[str, Value] | None:
    """Give `content` and `encoding` of an entry of write_files; None when there is no way to write it."""
    if any(segment.HasField("extension") for segment in content.segments):
        text = script(content, ctx, path)
        return None if text is None or (isinstance(text, Templated) and text.quoted) else {"content": text}
    data = ctx.content(content, path)
    packed = base64.b64encode(data).decode()
    try:
        literal = data.decode()
    except UnicodeDecodeError:
        return {"encoding": "b64", "content": packed}
    if UNSAFE.search(literal) or (_NO_BLOCK.search(literal) and _quoted_length(literal) > len(packed)):
        return {"encoding": "b64", "content": packed}
    return {"content": literal} if literal else {}


def script(content: contentpb.Content, ctx: RenderContext, path: str) -> Text | None:
    """Give a content as text; None when it has characters that cannot stand there.

    No program takes a NUL in an argument. Other characters that cannot be printed stand in quotes.
    """
    pieces: list[str | Template] = []
    for index, segment in enumerate(content.segments):
        if segment.HasField("extension"):
            pieces.append(_template(segment.extension, ctx, f"{path}.segments[{index}]"))
            continue
        try:
            pieces.append(ctx.segment(segment, f"{path}.segments[{index}]").decode())
        except UnicodeDecodeError:
            return None
    return _joined(pieces)


def line(command: planpb.CommandLine, ctx: RenderContext, path: str) -> Text | None:
    """Give a command line as text; None when it has characters that cannot stand there."""
    return _joined(
        [
            _template(part.extension, ctx, f"{path}.segments[{index}]") if part.HasField("extension") else part.text
            for index, part in enumerate(command.segments)
        ]
    )


def template(text: str) -> Templated | None:
    """Give a text that is Jinja; None when it has characters that cannot stand there."""
    return None if UNSAFE.search(text) else Templated((Template(text),))


def refuse_whole(extensions: Iterable[specpb.Extension], ctx: RenderContext) -> None:
    """Refuse Jinja that is no part of a text: it would have no effect."""
    for index, extension in enumerate(extensions):
        if extension.id == JINJA:
            ctx.refuse(f"extensions[{index}]", f"ext.{JINJA}", "is the language of a text, and no document")


def _template(part: contentpb.ExtensionText, ctx: RenderContext, path: str) -> Template:
    if part.id != JINJA:
        remedy = f"name {JINJA}, or make it an entry of extensions"
        ctx.refuse(f"{path}.extension.id", f"ext.{part.id}", "is no language of a text", remedy=remedy)
    return Template(part.text)


def _joined(pieces: list[str | Template]) -> Text | None:
    text = "".join(piece if isinstance(piece, str) else piece.text for piece in pieces)
    if "\0" in text:
        return None
    if all(isinstance(piece, str) for piece in pieces):
        return text
    # A template is no blank, whatever it will give.
    around = "".join(piece if isinstance(piece, str) else "x" for piece in pieces)
    if any(isinstance(piece, Template) and UNSAFE.search(piece.text) for piece in pieces):
        return None
    return Templated(tuple(_merged(pieces)), quoted=bool(UNSAFE.search(around) or _BLANK_FIRST.match(around)))


def _merged(pieces: list[str | Template]) -> Iterator[str | Template]:
    """Give pieces so that no text is next to another one."""
    for is_text, group in groupby(pieces, lambda piece: isinstance(piece, str)):
        if is_text:
            yield "".join(str(piece) for piece in group)
        else:
            yield from group


def _quoted_length(text: str) -> int:
    return len(text) + sum(text.count(char) for char in '\n\t"\\')
