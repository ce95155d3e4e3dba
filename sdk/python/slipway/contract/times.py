"""Points in time, durations and time zones: those that are none or that no program can count to, and Windows' names.

protobuf keeps any two numbers in a point in time or a duration; a program that makes a date or a pause of those fails.
Sources: google/protobuf/timestamp.proto and duration.proto for the ranges, Go's time.Duration for the longest duration.

Windows PowerShell cannot translate the names of the tz database. The table of what Windows calls them lists only zones
that the Unicode Common Locale Data Repository (windowsZones.xml, 2025) maps, and nothing is inferred: two zones with
the same offset today need not be the same tomorrow.
"""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from slipway.contract.errors import Violation
from slipway.contract.field_plans import holders_of, plan
from slipway.v1alpha1 import options_pb2 as optionspb

DEFAULT_MAX_SECONDS = 9_223_372_036
"""Most seconds of a duration, 292 years: Go, in which the engines are written, counts nanoseconds in 64 bits."""

_YEAR_1, _YEAR_10000 = -62_135_596_800, 253_402_300_800
"""Seconds: a Timestamp has the first and all before the second."""
_SECOND = 10**9
"""In nanoseconds."""


def time_violations(message: Message, *, path: str = "") -> Iterator[Violation]:
    """Give every point in time and every duration in a message that is out of range, with its field path."""
    holders = _holders(message)
    plans = plan(message.DESCRIPTOR)
    for descriptor, value in message.ListFields():
        if descriptor.number not in holders:
            continue
        field = plans[descriptor.number]
        where = f"{path}.{field.name}" if path else field.name
        for index, entry in enumerate(value if field.repeated else (value,)):
            here = f"{where}[{index}]" if field.repeated else where
            if isinstance(entry, Timestamp | Duration):
                yield from violations_of_time(field.rules, entry, here)
            else:
                yield from time_violations(entry, path=here)


def violations_of_time(rules: optionspb.FieldRules, value: Timestamp | Duration, where: str) -> Iterator[Violation]:
    """Give what is wrong with one point in time, or one duration of a field with these rules."""
    if isinstance(value, Timestamp):
        yield from _timestamp(value, where)
    else:
        yield from _duration(rules, value, where)


def _timestamp(value: Timestamp, where: str) -> Iterator[Violation]:
    if not _YEAR_1 <= value.seconds < _YEAR_10000:
        yield Violation(where, "must be in the years 1 to 9999", remedy="give seconds since 1970, or leave it out")
    elif not 0 <= value.nanos < _SECOND:
        yield Violation(where, "must have nanos from 0 to 999999999", remedy="add whole seconds to its seconds")


def _duration(rules: optionspb.FieldRules, value: Duration, where: str) -> Iterator[Violation]:
    most = rules.maximum if rules.HasField("maximum") else DEFAULT_MAX_SECONDS
    if value.seconds < 0 or value.nanos < 0:
        yield Violation(where, "must not be negative")
    elif value.nanos >= _SECOND:
        yield Violation(where, "must have nanos from 0 to 999999999", remedy="add whole seconds to its seconds")
    elif value.seconds + bool(value.nanos) > most:
        yield Violation(where, f"must be at most {most} seconds", remedy="choose a shorter time")


def _holders(message: Message) -> frozenset[int]:
    descriptor = message.DESCRIPTOR
    return holders_of(descriptor, Timestamp.DESCRIPTOR.full_name) | holders_of(
        descriptor, Duration.DESCRIPTOR.full_name
    )


def windows_time_zone(name: str) -> str | None:
    """Give what tzutil calls a zone of the tz database, or None where it has no name for it."""
    return _windows_time_zones().get(name)


@cache
def _windows_time_zones() -> dict[str, str]:
    text = files(__package__).joinpath("windows_time_zones.txt").read_text(encoding="ascii")
    rows = (line.split("\t") for line in text.splitlines())
    return {name: windows for windows, names in rows for name in names.split()}
