"""PowerShell as data: what its literals say, and what is left of a script when they say nothing.

Two scripts with the same skeleton do the same with other values, whatever the values are.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from functools import cache

import tree_sitter
import tree_sitter_powershell

from tests.oracles.readers import documents_in

# How a literal is written that is not printable ASCII.
_DECODED = re.compile(
    r"\(\[System\.Text\.Encoding\]::UTF8\.GetString\(\[System\.Convert\]::FromBase64String\(('[A-Za-z0-9+/=]*')\)\)\)"
)
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_TEXTS = {"string_literal", "verbatim_string_characters", "expandable_string_literal"}
_ARGUMENT = re.compile(r'(?:[^ \t"]|"(?:\\.|[^"\\])*")+')


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))


def skeleton(script: str) -> str:
    """The script with nothing in its literals."""
    plain = _DECODED.sub("''", script)
    cut, end = [], 0
    data = plain.encode()
    for node in _literals(_parser().parse(data).root_node):
        cut += [data[end : node.start_byte], b"''"]
        end = node.end_byte
    return b"".join([*cut, data[end:]]).decode()


def texts(script: str) -> Iterator[str]:
    """Every text that is written in a script, also in what is encoded in it, and so on."""
    for node in _literals(_parser().parse(script.encode()).root_node):
        literal = (node.text or b"").decode()
        yield from _inside(re.sub("(['\u2018\u2019\u201a\u201b])\\1", r"\1", literal[1:-1]))


def arguments(line: str) -> list[str]:
    """Give what a program makes of its command line."""
    return [_argument(word) for word in _ARGUMENT.findall(line)]


def _literals(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    if node.type in _TEXTS:
        # A literal within double quotes is the program's own: no value is ever written there.
        if (node.text or b"").startswith((b"'", "\u2018".encode())):
            yield node
        return
    for child in node.children:
        yield from _literals(child)


def _inside(text: str) -> Iterator[str]:
    yield text
    if _BASE64.fullmatch(text):
        try:
            yield from _inside(base64.b64decode(text).decode())
        except (binascii.Error, UnicodeDecodeError):
            return
    elif text.startswith("{"):
        yield from (each for document in documents_in(text) for each in _inside(document))
    elif "\n" in text:
        yield from documents_in(text)
        yield from texts(text)
    else:
        yield from arguments(text)


def _argument(word: str) -> str:
    """What a program makes of a word of its command line."""
    return re.sub(r'(\\*)"', lambda match: "\\" * (len(match[1]) // 2) + '"' * (len(match[1]) % 2), word)
