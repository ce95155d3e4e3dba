"""Logs as lines: decoded, without what terminals and serial consoles put in between."""

import re
from collections.abc import Iterator

from slipway.diagnosis.log_records import messages
from slipway.diagnosis.printing import ESCAPES
from slipway.diagnosis.scrubbing import secret_at

LONGEST = 64 << 10
"""Characters of a line that are looked at, and of a part of a longer one."""
_BYTE_ORDER_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))
# What needs no more than to be read: most lines.
_PLAIN = re.compile(r"(?!\{|MESSAGE=)[^\x1b\r]{1,1999}")
_LINES = re.compile(r"[^\n]+")
_IDENTIFIER = re.compile(
    r"^(?:(?:\S+ +\d+ [0-9:]{8}|\d{4}-\d\d-\d\dT\S+) \S+ |\[ *\d+\.\d+\] )([\w.@-]+)(?:\[\d+\])?: "
)


def decoded(data: bytes) -> str | None:
    """Give the text of a log; None where it is no text, as the journal's own files."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    zeros = data.count(0)
    # Windows programs write UTF-16 without a mark too: every second byte of text is zero then, and no other.
    first, second = data[:4000:2].count(0), data[1:4000:2].count(0)
    if zeros > len(data) // 3 and second > 10 * first + len(data[1:4000:2]) // 2:
        return data.decode("utf-16-le", "replace")
    # A console's dump may begin or end with zero bytes; a binary file is full of them.
    if zeros > len(data) // 50 + 16:
        return None
    return data.replace(b"\0", b"").decode("utf-8", "replace")


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Give number and text of every line that is not empty; records of JSON as the messages in them."""
    number, end = 1, 0
    for matched in _LINES.finditer(text):
        number += text.count("\n", end, matched.start())
        end = matched.end()
        line = matched[0]
        if _PLAIN.fullmatch(line):
            if not line.isspace():
                yield number, line
            continue
        for part in _parts(line):
            yield number, part


def _parts(line: str) -> Iterator[str]:
    # Before it is cut: colours within a secret would hide it from the search at the cut.
    for text in cut(ESCAPES.sub("", line) if "\x1b" in line else line):
        for message in messages(text):
            for part in message.split("\r") if "\r" in message else (message,):
                if part and not part.isspace():
                    yield part


def cut(line: str) -> Iterator[str]:
    """Give a line in parts. A secret where it is cut goes as a whole: neither half would be known for one."""
    start = 0
    while len(line) - start > LONGEST:
        first, last = secret_at(line, start + LONGEST)
        yield line[start:first]
        start = last
    yield line[start:]


def identifier(line: str) -> str:
    """Give the program that a line of the journal names, or ""."""
    matched = _IDENTIFIER.match(line)
    return matched[1] if matched else ""
