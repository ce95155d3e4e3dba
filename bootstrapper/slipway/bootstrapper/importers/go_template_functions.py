"""The functions of Go's text/template, and how it prints the values of JSON."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from slipway.bootstrapper.importers.go_template_dialect import NO_VERSION, Dialect, GoTemplateError

_SMALLEST, _LARGEST = -4, 6


def printed(value: Any, missing: str = Dialect.missing) -> str:
    """Print a value as Go does.

    Raises:
        GoTemplateError: there is none, or it is not one of JSON.
    """
    if value is None:
        if not missing:
            return "<no value>"
        raise GoTemplateError(missing)
    if missing == NO_VERSION and isinstance(value, Mapping):
        raise GoTemplateError("only .controlPlane.version can be printed")
    return _printed(value)


def _printed(value: Any) -> str:
    """Print a value, or an item of one; that of a function of ours, such as a parsed version, is no value of JSON."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number(value)
    if type(value) is list:
        return f"[{' '.join(map(_printed, value))}]"
    if type(value) is dict:
        return f"map[{' '.join(f'{key}:{_printed(value[key])}' for key in sorted(value))}]"
    if not isinstance(value, str | int):
        raise GoTemplateError("a value that cannot be printed")
    return str(value)


def _number(value: float) -> str:
    """Print a number of JSON as Go's %v does: the fewest digits, an exponent from a million on, or below 1e-4."""
    shortest = repr(value)
    digits, _, exponent = f"{value:.{_digits(shortest) - 1}e}".partition("e")
    power = int(exponent)
    if power < _SMALLEST or power >= _LARGEST:
        return f"{digits}e{'-' if power < 0 else '+'}{abs(power):02d}"
    return f"{value:.{max(_digits(shortest) - 1 - power, 0)}f}"


def _digits(shortest: str) -> int:
    """Count the digits that matter of the shortest text that means a number."""
    text = shortest.partition("e")[0].lstrip("-").replace(".", "").strip("0")
    return max(len(text), 1)


def _equal(first: Any, *others: Any) -> bool:
    if not others or any(type(other) is not type(first) for other in others):
        raise TypeError
    return first in others


def _ordered(first: Any, second: Any) -> int:
    if type(first) is not type(second) or not isinstance(first, str | int | float) or isinstance(first, bool):
        raise TypeError
    # Characters of UTF-8 sort as their bytes do.
    return int(first > second) - int(first < second)


def _slice(text: Any, *bounds: Any) -> str:
    raw = text.encode()
    start, end = (*bounds, *(0, len(raw))[len(bounds) :])[:2]
    if len(bounds) > 2 or not 0 <= start <= end <= len(raw):  # noqa: PLR2004 - start and end
        raise IndexError
    return bytes(raw[start:end]).decode()


def _printf(format_text: Any, *arguments: Any) -> str:
    verbs = re.findall(r"%(.)", format_text.replace("%%", ""))
    if any(verb not in "svd" for verb in verbs) or len(verbs) != len(arguments):
        raise TypeError
    if any(isinstance(value, str) is (verb == "d") for verb, value in zip(verbs, arguments, strict=True)):
        raise TypeError
    values = iter(arguments)
    return re.sub(r"%(.)", lambda match: "%" if match[1] == "%" else printed(next(values)), format_text)


def _print(*texts: Any) -> str:
    if not all(isinstance(text, str) for text in texts):
        raise TypeError
    return "".join(texts)


def _last(*values: Any, until: bool) -> Any:
    return next((value for value in values[:-1] if bool(value) is until), values[-1])


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "and": lambda *values: _last(*values, until=False),
    "or": lambda *values: _last(*values, until=True),
    "not": lambda value: not value,
    "eq": _equal,
    "ne": lambda first, second: not _equal(first, second),
    "lt": lambda first, second: _ordered(first, second) < 0,
    "le": lambda first, second: _ordered(first, second) <= 0,
    "gt": lambda first, second: _ordered(first, second) > 0,
    "ge": lambda first, second: _ordered(first, second) >= 0,
    "len": lambda value: len(value.encode()),
    "slice": _slice,
    "print": _print,
    "printf": _printf,
}
