"""Nothing of a request leaves by what a program writes beside its answer: its standard error and the texts of refusals.

The program is not ours, and may print all that it reads, in any encoding. Too much removed is no harm; too little is.
"""

import base64
import re
from collections.abc import Iterator
from functools import cached_property

import re2
from google.protobuf.message import Message

REMOVED = "***"
_FRAGMENT = 6
_SHORT = 4
_LINE = 8
_LAST = 12
"""Bytes that base32 makes a word of that is not long by itself."""
_ENCODED = re2.compile(
    r"[A-Za-z0-9+/=_%\\-]{20,}|(?:[0-9]{1,3}[^0-9A-Za-z]{1,4}){8,}[0-9]*|(?:[0-9A-Fa-f]{2}[ :,]){8,}"
)
"""Long words, rows of numbers and of pairs of digits: that is how bytes look in a log."""


class Scrubber:
    """Removes the values of one message from texts. Its repr shows none of them."""

    def __init__(self, message: Message) -> None:
        """Know the values of a message; nothing is computed before there is a text."""
        self._message = message

    def __repr__(self) -> str:
        return f"Scrubber({self._message.DESCRIPTOR.name})"

    def values(self, text: str) -> str:
        """Remove whole values, and lines of them, from a text that is written for people."""
        for value in self._whole:
            text = text.replace(value, REMOVED)
        return _ENCODED.sub(REMOVED, text) if text else text

    def fragments(self, text: str) -> str:
        """Remove every six characters that are in some value too, in several encodings, from a text of any kind."""
        text = str(_ENCODED.sub(REMOVED, self._short_out(text)))
        folded = text.lower()
        hidden = [False] * len(text)
        for start in range(len(text) - _FRAGMENT + 1):
            if folded[start : start + _FRAGMENT] in self._haystack:
                hidden[start : start + _FRAGMENT] = [True] * _FRAGMENT
        shown = "".join("\0" if hide else character for character, hide in zip(text, hidden, strict=True))
        return re.sub("\0+", REMOVED, shown)

    def _short_out(self, text: str) -> str:
        for value in self._whole:
            if len(value) < _FRAGMENT:
                text = text.replace(value, REMOVED)
        return text

    @cached_property
    def _whole(self) -> list[str]:
        """Values as text, the longest first, so that none hides a part of another."""
        texts = {value.decode(errors="replace") for value in _values(self._message)}
        lines = {line.strip() for text in texts for line in text.splitlines()}
        whole = {text for text in texts if len(text) >= _SHORT} | {line for line in lines if len(line) >= _LINE}
        return sorted(whole, key=len, reverse=True)

    @cached_property
    def _haystack(self) -> str:
        return "\n".join(form for value in set(_values(self._message)) for form in _forms(value)).lower()


def _forms(value: bytes) -> Iterator[str]:
    yield value.decode(errors="replace")
    yield value.hex()
    # Base64 of a text that holds the value somewhere: it depends on where the value begins.
    for before, skipped in ((b"", 0), (b"x", 2), (b"xx", 3)):
        yield base64.b64encode(before + value).decode()[skipped:]
    # Base32 is a long word, except for a short value and the last line of a long one.
    yield base64.b32encode(value[max(0, (len(value) - _LAST) // 5 * 5) :]).decode().rstrip("=")


def _values(message: Message) -> Iterator[bytes]:
    for descriptor, value in message.ListFields():
        for each in value if descriptor.is_repeated else (value,):
            if isinstance(each, Message):
                yield from _values(each)
            elif isinstance(each, str):
                yield each.encode(errors="replace")
            elif isinstance(each, bytes):
                yield each
