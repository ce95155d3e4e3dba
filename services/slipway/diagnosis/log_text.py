"""Logs as lines: decoded, without what terminals and serial consoles put in between."""

import re
import unicodedata
from collections.abc import Iterator

_BYTE_ORDER_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))
# Escape sequences of terminals: CSI, OSC (ended by BEL or ST), and those of two characters.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\-_a-z0-9=>])")
_LINE_ENDS = re.compile(r"\r+\n?|\n")
_IDENTIFIER = re.compile(r"^(?:\S+ +\d+ [0-9:]{8}|\d{4}-\d\d-\d\dT\S+) \S+ ([\w.@-]+)(?:\[\d+\])?: ")


def decoded(data: bytes) -> str | None:
    """Give the text of a log; None where it is no text, as the journal's own files."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    # A console's dump may begin or end with zero bytes; a binary file is full of them.
    if data.count(0) > len(data) // 50 + 16:
        return None
    return data.replace(b"\0", b"").decode("utf-8", "replace")


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Give number and text of every line that is not empty."""
    for number, line in enumerate(_LINE_ENDS.split(_ESCAPES.sub("", text)), start=1):
        if line and not line.isspace():
            yield number, line


def printable(text: str) -> str:
    """Give text that does nothing to a terminal: no control characters, none that turn the direction of writing."""
    kept = (" " if one in "\t\n\r" else one for one in _ESCAPES.sub("", text))
    return "".join(one for one in kept if one.isprintable() and unicodedata.category(one) != "Cf")


def identifier(line: str) -> str:
    """Give the program that a line of the journal names, or ""."""
    matched = _IDENTIFIER.match(line)
    return matched[1] if matched else ""
