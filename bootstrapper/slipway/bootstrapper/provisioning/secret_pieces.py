"""Finds pieces of secrets in texts, whatever stands between their letters, in time that grows with the text alone.

Only letters and digits are compared, in lower case: a secret that is split over lines, numbered, coloured by escapes of
a terminal or written with other signs between is found as one that stands in one word.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

WINDOW = 12
"""Letters and digits that are looked for as a piece of a longer secret. Fewer would meet common words."""

_SHORTEST = 6
"""Letters and digits of a short secret, or of a form of one, that is found although other signs are between them."""

_GRAM = 6
# Of so many pieces of _GRAM signs one is in every piece of WINDOW signs.
_STRIDE = WINDOW - _GRAM + 1
_MOST_PLACES = 8
_SIGNS = re.compile(r"[\W_]+")
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\)?)")
_RUN = re.compile(r"\S+")
FIELD_PATH = re.compile(r"[a-z_]+(\[[0-9]+\])?(\.[a-z_]+(\[[0-9]+\])?)*+[.,:;]?")
"""A field path, which is in most messages and is never one of a secret's pieces."""


class SecretPieces:
    """The pieces of some secrets."""

    def __init__(self, *, long: Iterable[str], short: Iterable[str]) -> None:
        """Take forms of secrets: of long ones pieces are found, short ones as a whole."""
        self._long = "\n".join(dict.fromkeys(map(_letters, long)))
        self._short = {whole for form in short if len(whole := _letters(form)) >= _SHORTEST}
        ends = len(self._long) - _GRAM + 1
        self._grams = {self._long[place : place + _GRAM] for place in range(0, ends, _STRIDE)}

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Where each gram stands; only texts that share a gram with a secret, which are few, need it."""
        by_gram: dict[str, list[int]] = {}
        for place in range(0, len(self._long) - _GRAM + 1, _STRIDE):
            places = by_gram.setdefault(self._long[place : place + _GRAM], [])
            if len(places) < _MOST_PLACES:
                places.append(place)
        return by_gram

    def covered(self, text: str) -> bytearray:
        """Give for each character of a text whether a piece of a secret goes over it."""
        letters, origins = _squeezed(text)
        covered = bytearray(len(text))
        for first, last in (*self._of_long(letters), *self._of_short(letters)):
            begin, end = origins[first], origins[last - 1] + 1
            covered[begin:end] = b"\1" * (end - begin)
        return covered

    def _of_long(self, letters: str) -> Iterator[tuple[int, int]]:
        done = 0
        for start in range(len(letters) - _GRAM + 1):
            gram = letters[start : start + _GRAM]
            if start + _GRAM <= done or gram not in self._grams:
                continue
            places = self._places[gram]
            spans = [self._extended(letters, start, place) for place in places]
            first, last = max(spans, key=lambda span: span[1] - span[0])
            # What stands so often in the secrets that not every place is known counts without a look.
            if last - first >= WINDOW or len(places) == _MOST_PLACES:
                yield first, last
                done = last

    def _extended(self, letters: str, start: int, place: int) -> tuple[int, int]:
        """Give how far a text and the secrets go on alike around a place."""
        first, last = start, start + _GRAM
        while first and place and letters[first - 1] == self._long[place - 1]:
            first, place = first - 1, place - 1
        place += last - first
        while last < len(letters) and place < len(self._long) and letters[last] == self._long[place]:
            last, place = last + 1, place + 1
        return first, last

    def _of_short(self, letters: str) -> Iterator[tuple[int, int]]:
        for whole in self._short:
            start = letters.find(whole)
            while start >= 0:
                yield start, start + len(whole)
                start = letters.find(whole, start + len(whole))


def _letters(form: str) -> str:
    return _SIGNS.sub("", form).lower()


def _squeezed(text: str) -> tuple[str, list[int]]:
    """Give the letters and digits of a text in lower case, and where each stands."""
    skipped = bytearray(len(text))
    paths = (run for run in _RUN.finditer(text) if "." in run[0] and FIELD_PATH.fullmatch(run[0]))
    for matched in (*_ESCAPE.finditer(text), *paths):
        skipped[matched.start() : matched.end()] = b"\1" * (matched.end() - matched.start())
    origins = [place for place, sign in enumerate(text) if sign.isalnum() and not skipped[place]]
    lower = (text[place].lower() for place in origins)
    return "".join(sign if len(sign) == 1 else "?" for sign in lower), origins
