"""The list of checks that a provisioner is known to fail: they are run all the same, and must go on failing.

One id a line, "#" begins a comment. A list that may hold what passes would hide the day on which it was repaired.
"""

from collections.abc import Collection
from pathlib import Path


class KnownFailuresError(Exception):
    """The list cannot be used; the text says why."""


def read(path: Path, known: Collection[str]) -> frozenset[str]:
    """Give the ids in a file.

    Raises:
        KnownFailuresError: it cannot be read, or names a check that there is not.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise KnownFailuresError(f"{path}: cannot be read: {type(error).__name__}") from None
    found = frozenset(text for line in lines if (text := line.partition("#")[0].strip()))
    unknown = sorted(found - set(known))
    if unknown:
        raise KnownFailuresError(f"{path}: there is no check {', '.join(unknown)}")
    return found
