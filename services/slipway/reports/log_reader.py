"""Log bundles as people read them, by a process of its own: see log_reading."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from slipway.reports.bundle_program import BundleProgram

MOST_LINES = 500
"""Lines of a part."""
LONGEST_LINE = 2000
"""Characters of a line that are shown; as many lines as a part has are 1 MB of ASCII then."""

_LARGEST = 8 * 2**20
_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Request:
    """What is read of a bundle.

    Attributes:
        file: name of the file of which a part is read; empty for none.
        first: number of the first line, from 1 on; 0 for the last part of the file.
        diagnosis: whether the logs are diagnosed.
    """

    file: str = ""
    first: int = 0
    diagnosis: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read.

    Attributes:
        files: name and number of lines of each file; none of what is no text.
        first: number of the first line of the part.
        lines: the part, as it may be shown on a terminal; each line up to LONGEST_LINE characters.
        cut: the characters of each line that are not shown, by its place in the part.
        diagnosis: as `slipway diagnose -o json` gives it; None where it was not asked for.
    """

    files: list[tuple[str, int | None]]
    first: int = 1
    lines: list[str] = field(default_factory=list)
    cut: dict[int, int] = field(default_factory=dict)
    diagnosis: dict[str, Any] | None = None

    def lines_of(self, file: str) -> int | None:
        """Give the number of lines of a file; None where there is no such text."""
        return next((number for name, number in self.files if name == file), None)


class LogReader:
    """Reads log bundles."""

    def __init__(self, *, seconds: float = _SECONDS, largest: int = _LARGEST) -> None:
        """Bound the time for each bundle, and the size of what was read; one is read at a time."""
        self._program = BundleProgram("slipway.reports.log_reading", "read", seconds=seconds, largest=largest)

    async def read(self, request: Request, bundle: bytes) -> Reading:
        """Read a bundle.

        Raises:
            BundleRefused: it cannot be read, or takes too much.
            ReportsUnavailable: it could not be read for another reason.
        """
        head = json.dumps(asdict(request)).encode() + b"\n"
        tree = json.loads(await self._program.run(head + bundle))
        return Reading(
            files=[(name, number) for name, number in tree["files"]],
            first=tree["first"],
            lines=tree["lines"],
            cut={int(place): number for place, number in tree["cut"].items()},
            diagnosis=tree["diagnosis"],
        )
