"""Lines that are records: the journal's JSON and export form, containers' logs, console text that a cloud wraps."""

import json
from collections.abc import Iterator
from typing import Any

_MESSAGES = ("MESSAGE", "log", "Output")
_WRAPPED = 2000
"""From this length on, line ends that are escaped within one line are taken for line ends."""

_LONGEST_NAME = 64
"""Characters of a program's name, which stands in front of each line of its message."""


def messages(line: str) -> Iterator[str]:
    """Give the messages of a line: itself, where it is no record."""
    if line.startswith("MESSAGE="):
        yield line.removeprefix("MESSAGE=")
    elif line.startswith("{") and (record := _record(line)) is not None:
        yield from _of_record(record, line)
    elif len(line) > _WRAPPED and "\\n" in line:
        yield from line.replace("\\r", "").split("\\n")
    else:
        yield line


def _record(line: str) -> dict[str, Any] | None:
    if not any(f'"{name}"' in line for name in _MESSAGES):
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _of_record(record: dict[str, Any], line: str) -> Iterator[str]:
    message = next((record[name] for name in _MESSAGES if name in record), None)
    if isinstance(message, list):  # The journal writes what is not UTF-8 as numbers.
        message = bytes(byte for byte in message if byte in range(256)).decode("utf-8", "replace")
    if not isinstance(message, str):
        yield line
        return
    program = record.get("SYSLOG_IDENTIFIER")
    start = f"[0.0] {program[:_LONGEST_NAME]}: " if isinstance(program, str) and program else ""
    for part in message.split("\n"):
        yield start + part
