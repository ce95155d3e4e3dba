"""What `${NAME...}` does to a value: the functions of drone/envsubst, in the version that clusterctl uses.

Lengths and offsets count bytes of UTF-8. Habits that differ from a shell's are kept on purpose: `:+` and `:?`
act as `:-`, a replacement of a prefix or suffix by nothing changes nothing.
"""

import re
from collections.abc import Callable, Sequence

from slipway.bootstrapper.importers import shell_pattern

DEFAULTS = frozenset({"=", ":=", ":-", ":+", ":?"})
"""Functions that give their argument where the value is empty."""

Function = Callable[[str, Sequence[str]], str]

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")


def apply(function: str, value: str, arguments: Sequence[str], *, largest: int) -> str:
    """Give the result of a function; an unknown one gives the value, or the arguments for an empty value.

    Raises:
        ValueError: the result would be longer than `largest`, or a substring has a negative length.
    """
    # A replacement multiplies: its size is known before it is made.
    if function == "//" and arguments and _replaced_size(value, arguments) > largest:
        raise ValueError(f"larger than {largest} characters when filled in")
    return _FUNCTIONS.get(function, _default)(value, arguments)


def _default(value: str, arguments: Sequence[str]) -> str:
    return value or "".join(arguments)


def _substring(value: str, arguments: Sequence[str]) -> str:
    raw = value.encode()
    start, length = _number(arguments[0]), _number(arguments[1]) if len(arguments) > 1 else len(raw)
    if start is None or length is None:
        return value
    if start < 0:
        start = max(0, len(raw) + start)
    if start + length >= len(raw):
        return raw[start:].decode(errors="replace")
    if length < 0:
        raise ValueError("a substring cannot have a negative length")
    return raw[start : start + length].decode(errors="replace")


def _number(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None


def _replace_first(value: str, arguments: Sequence[str]) -> str:
    return value.replace(arguments[0], _second(arguments), 1)


def _replace_all(value: str, arguments: Sequence[str]) -> str:
    return value.replace(arguments[0], _second(arguments))


def _replace_prefix(value: str, arguments: Sequence[str]) -> str:
    if len(arguments) > 1 and value.startswith(arguments[0]):
        return arguments[1] + value.removeprefix(arguments[0])
    return value


def _replace_suffix(value: str, arguments: Sequence[str]) -> str:
    if len(arguments) > 1 and value.endswith(arguments[0]):
        return value.removesuffix(arguments[0]) + arguments[1]
    return value


def _second(arguments: Sequence[str]) -> str:
    return arguments[1] if len(arguments) > 1 else ""


def _replaced_size(value: str, arguments: Sequence[str]) -> int:
    return len(value) + value.count(arguments[0]) * len(_second(arguments))


def _upper(text: str) -> str:
    # Go maps character by character; those that become two stay.
    return "".join(upper if len(upper := character.upper()) == 1 else character for character in text)


def _lower(text: str) -> str:
    return "".join(lower if len(lower := character.lower()) == 1 else character for character in text)


_FUNCTIONS: dict[str, Function] = {
    "length": lambda value, _: str(len(value.encode())),
    ",": lambda value, _: _lower(value[:1]) + value[1:],
    ",,": lambda value, _: _lower(value),
    "^": lambda value, _: _upper(value[:1]) + value[1:],
    "^^": lambda value, _: _upper(value),
    "#": lambda value, arguments: shell_pattern.without_shortest_prefix(value, arguments[0]),
    "##": lambda value, arguments: shell_pattern.without_longest_prefix(value, arguments[0]),
    "%": lambda value, arguments: shell_pattern.without_shortest_suffix(value, arguments[0]),
    "%%": lambda value, arguments: shell_pattern.without_longest_suffix(value, arguments[0]),
    ":": _substring,
    "/": _replace_first,
    "//": _replace_all,
    "/#": _replace_prefix,
    "/%": _replace_suffix,
}
