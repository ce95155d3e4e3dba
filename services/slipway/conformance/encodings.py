"""The forms in which programs write bytes: a canary is recognised in each of them, and in one within another."""

import base64
import json
import re
import urllib.parse
from collections.abc import Callable, Iterator, Mapping

_SHORTEST = 8
"""Fewer characters than this stand in many a text by chance."""


def forms(text: bytes, word: bytes) -> list[str]:
    """Give the names of the forms in which a word stands in a text, sorted; empty where it is not there."""
    if word in text:
        return ["as it is"]
    folded, joined = text.lower(), re.sub(rb"\s+", b"", text)
    found = set()
    for name, encoded in _encoded(word):
        places = (folded,) if name == "hexadecimal" else (text, joined)
        if any(encoded in place for place in places):
            found.add(name)
        for outer, again in _encoded(encoded):
            if len(encoded) >= _SHORTEST and again in (folded if outer == "hexadecimal" else text):
                found.add(f"{name} in {outer}")
    return sorted(found)


def _encoded(word: bytes) -> Iterator[tuple[str, bytes]]:
    for name, encode in _ENCODERS.items():
        for one in encode(word):
            if one and one != word:
                yield name, one


def _base64(word: bytes) -> Iterator[bytes]:
    # Wherever a word begins in base64, two of three alignments lose a character at its edges.
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + word)[4 if shift else 0 : -4]
        yield encoded
        yield encoded.translate(bytes.maketrans(b"+/", b"-_"))


def _numbers(word: bytes) -> Iterator[bytes]:
    yield ",".join(map(str, word)).encode()
    yield " ".join(map(str, word)).encode()


def _escaped(word: bytes) -> Iterator[bytes]:
    yield "".join(f"\\x{byte:02x}" for byte in word).encode()
    yield "".join(f"\\u{byte:04x}" for byte in word).encode()
    yield "".join(f"\\{byte:03o}" for byte in word).encode()
    yield json.dumps(word.decode(errors="replace"))[1:-1].encode()


_ENCODERS: Mapping[str, Callable[[bytes], Iterator[bytes]]] = {
    "base64": _base64,
    "hexadecimal": lambda word: iter([word.hex().encode()]),
    "decimal numbers": _numbers,
    "escapes": _escaped,
    "percent-encoded": lambda word: iter([urllib.parse.quote(word, safe="").encode()]),
}
