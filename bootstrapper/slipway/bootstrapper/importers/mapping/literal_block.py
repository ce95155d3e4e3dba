"""What a literal block of YAML makes of a text: today's provider puts the contents of files into one.

Its templates write `content: |` (cloud-config) and `inline: |` (Container Linux Config) and the text behind that, with
each line indented. So line breaks are LF on the machine, and one newline stands at the end of what is not empty.

Source: Cluster API 1.14, bootstrap/kubeadm, cloudinit/files.go and ignition/clc/clc.go; YAML 1.1, 4.2.3 and 4.4.4
(clip, the default).
"""

import re
from collections.abc import Sequence

import yaml

from slipway.bootstrapper.importers.jinja import Piece

_INDENT = " " * 6
_UNUSUAL = re.compile("^[ \n]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
"""Where more than the end can change: an indentation of its own, a line break of another kind, what YAML forbids."""
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no document of YAML may hold."""
_OTHER_BREAK = re.compile("[\r\x85\u2028\u2029]")


def from_literal_block(text: str) -> str:
    """Give the text that a machine of today has of a text; one that breaks the document stays as it is."""
    if not _UNUSUAL.search(text):
        lines = text.rstrip("\n")
        return f"{lines}\n" if lines else ""
    if _FORBIDDEN.search(text):
        return text
    plain = read_without_parser(text)
    return _read_with_yaml(text) if plain is None else plain


def read_without_parser(text: str) -> str | None:
    """Read a text whose every line belongs to the block; None where that takes a parser.

    A parser of YAML takes seconds for a large text. The block is as deep as its first line that is not blank. A line
    that is less deep ends it, one of spaces alone that is deeper before it makes it deeper, and a line break of another
    kind has no indentation behind it. Source: PyYAML 6, scanner.py (scan_block_scalar).
    """
    text = text.replace("\r\n", "\n")
    if _OTHER_BREAK.search(text):
        return None
    lines = text.split("\n")
    first = next((index for index, line in enumerate(lines) if line.strip(" ")), None)
    if first is None:
        return ""
    depth = len(lines[first]) - len(lines[first].lstrip(" "))
    if any(len(line) > depth for line in lines[:first]):
        return None
    margin = " " * depth
    if any(not line.startswith(margin) and line.strip(" ") for line in lines[first:]):
        return None
    return "\n".join(line[depth:] for line in lines).rstrip("\n") + "\n"


def _read_with_yaml(text: str) -> str:
    document = "content: |\n" + _INDENT + text.replace("\n", f"\n{_INDENT}") + "\nend: here\n"
    try:
        tree = yaml.safe_load(document)
    except yaml.YAMLError:
        return text
    return str(tree["content"]) if isinstance(tree, dict) and tree.keys() == {"content", "end"} else text


def pieces_from_literal_block(pieces: Sequence[Piece]) -> list[Piece]:
    """Give the pieces of a text as they stand on a machine of today.

    What the machine fills in counts as a part of its line. A template that ends with a block has the newline of
    today already: Jinja cuts the one that follows.
    """
    if len(pieces) == 1 and pieces[0].template is not None:
        template = pieces[0].template
        return [pieces[0] if template.endswith(("%}", "#}")) else Piece(template=template.rstrip("\n") + "\n")]
    text = "".join(piece.text for piece in pieces)
    mark = next(sign for sign in map(chr, range(0xE000, 0xF900)) if sign not in text)
    others = [piece for piece in pieces if piece.fact is not None or piece.template is not None]
    whole = from_literal_block("".join(mark if piece in others else piece.text for piece in pieces))
    result: list[Piece] = []
    for index, part in enumerate(whole.split(mark)):
        result += [Piece(text=part)] if part else []
        result += others[index : index + 1]
    return result
