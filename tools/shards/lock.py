"""The record of runs in full: for each shard what its inputs were when it last passed, and when that was.

It is committed, since a machine of continuous integration remembers nothing. A record can only be made by a run: a
merge that takes half of each side names inputs that never were, and every shard is affected.
"""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_HEADING = "# Written by `make test-all` and `make test-affected`: when each shard last passed in full, and on what.\n"


@dataclass(frozen=True)
class Record:
    """A run in full that passed.

    Attributes:
        inputs: the digest of everything that can affect the shard.
        passed: when it ended.
        seconds: what its tests took, one after another.
    """

    inputs: str
    passed: dt.date
    seconds: int


class LockError(Exception):
    """The record cannot be read, as after a merge with a conflict."""


def read(file: Path) -> dict[str, Record]:
    """Give the records by shard; none where there is no file.

    Raises:
        LockError: the file is no record.
    """
    if not file.exists():
        return {}
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
        return {name: Record(**entry) for name, entry in document.items()}
    except (tomllib.TOMLDecodeError, TypeError):
        raise LockError(
            f"{file} cannot be read: remove it, or the records in conflict, and every shard without one is affected"
        ) from None


def write(file: Path, records: Mapping[str, Record]) -> None:
    """Write all records, in the order of names."""
    lines = [_HEADING]
    for name, record in sorted(records.items()):
        lines.append(f'\n[{name}]\ninputs = "{record.inputs}"\n')
        lines.append(f"passed = {record.passed.isoformat()}\nseconds = {record.seconds}\n")
    file.write_text("".join(lines), encoding="utf-8")
