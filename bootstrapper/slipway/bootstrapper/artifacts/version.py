"""Versions of releases and their order (semver.org 2.0.0, without build metadata)."""

import functools
from dataclasses import dataclass
from typing import Self

LONGEST = 64
_NUMBERS = 3


@functools.total_ordering
@dataclass(frozen=True, slots=True)
class Version:
    """A version, such as 1.4.0 or 1.4.0-rc.1."""

    numbers: tuple[int, ...]
    pre_release: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a version.

        Raises:
            ValueError: it is not MAJOR.MINOR.PATCH, with an optional -PRE-RELEASE.
        """
        core, dash, rest = text.partition("-")
        numbers, pre_release = core.split("."), rest.split(".") if dash else []
        is_valid = (
            text.isascii()
            and len(text) <= LONGEST
            and len(numbers) == _NUMBERS
            and all(_is_number(part) for part in numbers)
            and all(part.replace("-", "a").isalnum() for part in pre_release)
            and all(_is_number(part) for part in pre_release if part.isdigit())
        )
        if not is_valid:
            raise ValueError("must be MAJOR.MINOR.PATCH, such as 1.4.0 or 1.4.0-rc.1")
        return cls(tuple(int(part) for part in numbers), tuple(pre_release))

    def __lt__(self, other: "Version") -> bool:
        """Compare by precedence: a pre-release is older than its release, numbers are older than words."""
        return self._order() < other._order()

    def __str__(self) -> str:
        """Give the text that it was read from."""
        return ".".join(map(str, self.numbers)) + "".join(
            f"{mark}{part}" for mark, part in zip(("-", *"." * len(self.pre_release)), self.pre_release, strict=False)
        )

    def _order(self) -> tuple[object, ...]:
        parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in self.pre_release)
        return (self.numbers, not self.pre_release, parts)


def _is_number(text: str) -> bool:
    return text.isdigit() and (text == "0" or not text.startswith("0"))
