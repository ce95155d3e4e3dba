"""The Range header (RFC 9110, section 14): one range of bytes; more than one, or what is no range, is left aside."""

from dataclasses import dataclass

_LONGEST = 64


class Unsatisfiable(ValueError):  # noqa: N818  # an answer of the protocol, not a fault
    """The range begins behind the end."""


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes from `start` to before `end`."""

    start: int
    end: int


def parse_range(header: str | None, size: int) -> ByteRange | None:
    """Give the range that a header asks for; None for the whole.

    Raises:
        Unsatisfiable: nothing of it is there.
    """
    unit, _, text = (header or "").partition("=")
    first, dash, last = (part.strip() for part in text.partition("-"))
    is_number = all(part == "" or (part.isascii() and part.isdigit()) for part in (first, last))
    if unit.strip().lower() != "bytes" or not dash or not is_number or not (first or last) or len(text) > _LONGEST:
        return None
    if not first:
        start, end = max(size - int(last), 0), size
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < start:
            return None
    if start >= end:
        raise Unsatisfiable
    return ByteRange(start, end)
