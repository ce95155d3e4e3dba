"""Durations as Go writes them, and with it most programs of this field: "5m", "1h30m0s", "250ms".

protobuf's own JSON form ("300s") is not what people know. Source: Duration.String and ParseDuration of Go's package
time.
"""

import re

from google.protobuf import duration_pb2

NANOSECOND = 1
MICROSECOND = 1_000
MILLISECOND = 1_000_000
SECOND = 1_000_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_LARGEST = 2**63 - 1
_UNITS = {
    "ns": NANOSECOND,
    "us": MICROSECOND,
    "µs": MICROSECOND,
    "μs": MICROSECOND,
    "ms": MILLISECOND,
    "s": SECOND,
    "m": MINUTE,
    "h": HOUR,
}
_TERM = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_LONGEST = 256
"""Characters of a text: numbers of any length cost the square of it."""
_NONE = 'must be a duration such as "5m" or "1h30m"'


def format_go_duration(nanoseconds: int) -> str:
    """Print a duration as Go does: `0s`, `1.5s`, `4m0s`, `8760h0m0s`, `150ms`.

    Raises:
        ValueError: the duration does not fit Go's 64 bits.
    """
    if abs(nanoseconds) > _LARGEST:
        raise ValueError("the duration is longer than Go can hold (about 292 years)")
    sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if rest == 0:
        return "0s"
    if rest < SECOND:
        return sign + _below_one_second(rest)
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    seconds = _decimal(rest, SECOND) + "s"
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}"
    return f"{sign}{minutes}m{seconds}" if minutes else sign + seconds


def parse_go_duration(text: str) -> int:
    """Read Go's text form and give nanoseconds.

    Raises:
        ValueError: the text is no Go duration, or does not fit 64 bits; the message does not repeat it.
    """
    if len(text) > _LONGEST:
        raise ValueError(_NONE)
    sign, body = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if body == "0":
        return 0
    total, position = 0, 0
    while position < len(body):
        term = _TERM.match(body, position)
        if term is None or not (term[1] or term[2]):
            break
        unit = _UNITS[term[3]]
        fraction = term[2] or ""
        total += int(term[1] or "0") * unit + int(fraction or "0") * unit // 10 ** len(fraction)
        position = term.end()
    if not body or position < len(body):
        raise ValueError(_NONE)
    if total > _LARGEST:
        raise ValueError("is too long a duration")
    return sign * total


def _below_one_second(nanoseconds: int) -> str:
    if nanoseconds < MICROSECOND:
        return f"{nanoseconds}ns"
    if nanoseconds < MILLISECOND:
        return _decimal(nanoseconds, MICROSECOND) + "µs"
    return _decimal(nanoseconds, MILLISECOND) + "ms"


def _decimal(value: int, unit: int) -> str:
    whole, fraction = divmod(value, unit)
    digits = str(fraction).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)


def parse_duration(text: str) -> duration_pb2.Duration:
    """Read what a person wrote; unlike Go neither a sign nor a number without its unit.

    Raises:
        ValueError: the text is not a duration; it is not repeated in the message.
    """
    if not text[:1].isdecimal() or text.isdecimal():
        raise ValueError(_NONE)
    nanoseconds = parse_go_duration(text)
    return duration_pb2.Duration(seconds=nanoseconds // SECOND, nanos=nanoseconds % SECOND)


def format_duration(duration: duration_pb2.Duration) -> str:
    """Write a duration in the shortest form that reads back as the same."""
    rest = duration.ToNanoseconds()
    text = ""
    for unit in ("h", "m", "s", "ms", "us", "ns"):
        count, rest = divmod(rest, _UNITS[unit])
        if count:
            text += f"{count}{unit}"
    return text or "0s"
