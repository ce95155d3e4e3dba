"""A log bundle as people read it: its files, a part of one of them, and what the diagnosis makes of all.

It is a program of its own, as the redaction is: unpacking and diagnosing what a machine sent takes memory and time of a
process that is ended for it, and not those of a server that others wait for. A request, one line of JSON, comes before
the bundle.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import BinaryIO

from slipway.diagnosis.diagnosis import diagnose
from slipway.diagnosis.diagnosis_tree import diagnosis_tree
from slipway.diagnosis.log_files import Log, LogError, logs_of
from slipway.diagnosis.printing import printable
from slipway.reports.bundle_refusal import BundleRefused, run_bounded
from slipway.reports.log_reader import LONGEST_LINE, MOST_LINES, Reading, Request


def read(request: Request, bundle: bytes) -> Reading:
    """Read a bundle.

    Raises:
        BundleRefused: it cannot be read as logs.
    """
    try:
        logs = logs_of("the log bundle", bundle)
    except LogError as error:
        raise BundleRefused(str(error)) from None
    files = [(log.name, None if log.text is None else len(_lines(log.text))) for log in logs]
    tree = diagnosis_tree(logs, diagnose(logs), []) if request.diagnosis else None
    first, lines = _part(logs, request)
    shown = [_shown(line) for line in lines]
    return Reading(
        files=files,
        first=first,
        lines=shown,
        cut={
            place: len(line) - LONGEST_LINE
            for place, line in enumerate(lines)
            if len(line) > LONGEST_LINE == len(shown[place])
        },
        diagnosis=tree,
    )


def _part(logs: Sequence[Log], request: Request) -> tuple[int, list[str]]:
    """Give the number of the first line and the lines; lines are counted as the diagnosis counts them."""
    text = next((log.text for log in logs if log.text is not None and log.name == request.file), None)
    if not request.file or text is None:
        return 1, []
    lines = _lines(text)
    first = request.first or max(len(lines) - MOST_LINES + 1, 1)
    return first, lines[first - 1 : first - 1 + MOST_LINES]


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _shown(line: str) -> str:
    # Of a line of 64 MiB a part is looked at only; escape sequences take some of it away.
    return printable(line[: 4 * LONGEST_LINE])[:LONGEST_LINE]


def _answer(source: BinaryIO, target: BinaryIO) -> None:
    request = Request(**json.loads(source.readline()))
    target.write(json.dumps(asdict(read(request, source.read()))).encode())


def main() -> int:
    """Read a request and a bundle from standard input, and write the reading to standard output; give the exit code."""
    return run_bounded(lambda: _answer(sys.stdin.buffer, sys.stdout.buffer))


if __name__ == "__main__":
    sys.exit(main())
