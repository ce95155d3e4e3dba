"""The functions beside Go's own that templates of ClusterClass patches call, as the sprig library has them.

Those that real classes use are here, and each does what sprig's does, or refuses its arguments. A regular expression
is taken only where Go and Python read it alike; a version constraint only where every part names a whole version.
"""

import base64
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import re2

from slipway.bootstrapper.importers.go_template_functions import printed

_VERBS = re.compile(r"%(.)", re.DOTALL)
_PLAIN_PATTERN = re.compile(
    r"(?:\[\^?[A-Za-z0-9 ._/-]+\]|[A-Za-z0-9 \n_=:/,\"'.|*+?-]|\((?!\?)|\)|\\[.nst\"/()|*+?-])*+"
)
_REPLACEMENT = re.compile(r"\$(?:(?P<number>[0-9]+)(?![A-Za-z0-9_])|(?P<other>[^0-9]|[0-9]|$))", re.DOTALL)
_VERSION = re.compile(r"v?(?P<numbers>[0-9]+\.[0-9]+\.[0-9]+)(?:-(?P<pre>[0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?")
_CONSTRAINT = re.compile(
    r"\s*(?:(?P<sign>=|!=|>|<|>=|<=)\s*)?(?P<version>v?[0-9]+\.[0-9]+(?:\.[0-9]+)?(?:-[0-9A-Za-z.-]+)?)"
)
_WHOLE = 2
"""Dots of a version with a patch level."""


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _strval(value: Any) -> str:
    return printed(value, "a value that does not exist")


def _equal(first: Any, *others: Any) -> bool:
    if not others:
        raise TypeError
    for other in others:
        if first is not None and other is not None and type(first) is not type(other):
            raise TypeError
        if isinstance(first, Mapping | list) or isinstance(other, Mapping | list):
            raise TypeError
    return first in others


def _index(value: Any, *keys: Any) -> Any:
    for key in keys:
        if isinstance(value, list) and type(key) is int and 0 <= key < len(value):
            value = value[key]
        elif isinstance(value, Mapping) and isinstance(key, str):
            value = value.get(key)
        else:
            raise TypeError
    return value


def _len(value: Any) -> int:
    return len(value.encode()) if isinstance(value, str) else len(value)


def quoted(value: str) -> str:
    """Quote a text as Go's %q does."""
    names = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v"}
    names |= {'"': r"\"", "\\": r"\\"}
    return '"' + "".join(names.get(each) or (each if each.isprintable() else _escaped(each)) for each in value) + '"'


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004  # ends of ASCII and of the BMP


def _printf(form: Any, *arguments: Any) -> str:
    verbs = [verb for verb in _VERBS.findall(form) if verb != "%"]
    if len(verbs) != len(arguments):
        raise TypeError
    values = iter(arguments)
    return _VERBS.sub(lambda match: "%" if match[1] == "%" else _formatted(match[1], next(values)), form)


def _formatted(verb: str, value: Any) -> str:
    match verb:
        case "v":
            return printed(value)
        case "s":
            return _text(value)
        case "q":
            return quoted(_text(value))
        case "d" if type(value) is int:
            return str(value)
    raise TypeError


def _empty(value: Any) -> bool:
    return not value


def _default(standard: Any, *given: Any) -> Any:
    return standard if not given or _empty(given[0]) else given[0]


def _ternary(first: Any, second: Any, condition: Any) -> Any:
    if not isinstance(condition, bool):
        raise TypeError
    return first if condition else second


def _trunc(count: Any, value: str) -> str:
    raw = value.encode()
    if type(count) is not int:
        raise TypeError
    cut = raw[len(raw) + count :] if count < 0 < len(raw) + count else raw[:count] if count >= 0 else raw
    return cut.decode()


def _indent(spaces: Any, value: str) -> str:
    if type(spaces) is not int or spaces < 0:
        raise TypeError
    pad = " " * spaces
    return pad + value.replace("\n", "\n" + pad)


def _join(separator: str, values: Any) -> str:
    items = values if isinstance(values, list) else [] if values is None else [values]
    return separator.join(_strval(item) for item in items if item is not None)


def _replace_all(pattern: str, value: str, replacement: str) -> str:
    expression = _expression(pattern)
    if "$" in _REPLACEMENT.sub(lambda match: "" if match["number"] else "$", replacement):
        raise ValueError

    def one(match: "re2._Match") -> str:
        if match.start() == match.end():
            raise ValueError
        return _REPLACEMENT.sub(lambda part: _group(match, int(part["number"])), replacement)

    return str(expression.sub(one, value))


def _group(match: "re2._Match", number: int) -> str:
    return (match[number] or "") if number <= match.re.groups else ""


def _expression(pattern: str) -> "re2._Regexp":
    """Compile what Go's regexp and Python's re read alike; white space is that of ASCII, as in Go."""
    if not _PLAIN_PATTERN.fullmatch(pattern) or re.search(r"[*+?]{2}", pattern):
        raise ValueError
    try:
        return re2.compile(pattern)
    except re2.error:
        raise ValueError from None


def _semver_compare(constraint: str, version: str) -> bool:
    given = _VERSION.fullmatch(version)
    if given is None:
        raise ValueError
    return any(_all_hold(part, _key(given["numbers"], given["pre"])) for part in constraint.split("||"))


def _all_hold(text: str, version: tuple[Any, ...]) -> bool:
    parts = [match for each in text.split(",") for match in _constraints(each)]
    if version[1] != _RELEASE and not any("-" in match["version"] for match in parts):
        return False
    holds = [_holds(match["sign"] or "=", match["version"], version) for match in parts]
    return all(holds)


def _constraints(text: str) -> list[re.Match[str]]:
    constraints: list[re.Match[str]] = []
    position, text = 0, text.rstrip()
    while position < len(text):
        match = _CONSTRAINT.match(text, position)
        if match is None or (position and not text[position].isspace()):
            raise ValueError
        constraints.append(match)
        position = match.end()
    if not constraints:
        raise ValueError
    return constraints


def _holds(sign: str, text: str, version: tuple[Any, ...]) -> bool:
    numbers, dash, pre = text.partition("-")
    if numbers.count(".") < _WHOLE:
        if sign not in {">=", "<"}:
            raise ValueError
        text = f"{numbers}.0{dash}{pre}"
    match = _VERSION.fullmatch(text)
    if match is None:
        raise ValueError
    other = _key(match["numbers"], match["pre"])
    return {
        "=": version == other,
        "!=": version != other,
        ">": version > other,
        "<": version < other,
        ">=": version >= other,
        "<=": version <= other,
    }[sign]


class _Version(dict[str, Any]):
    """A parsed version: it has fields, and is no mapping that could be printed."""


def _semver(version: str) -> _Version:
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError
    numbers = map(int, match["numbers"].split("."))
    return _Version(zip(("Major", "Minor", "Patch"), numbers, strict=True), Prerelease=match["pre"] or "")


_RELEASE: tuple[Any, ...] = (1,)


def _key(numbers: str, pre: str | None) -> tuple[Any, ...]:
    """Give what versions are ordered by: a prerelease comes before its release, numbers before words."""
    parts = tuple((0, int(each), "") if each.isdecimal() else (1, 0, each) for each in (pre or "").split("."))
    return tuple(map(int, numbers.split("."))), (0, parts) if pre else _RELEASE


def _json(value: Any) -> str:
    """Write JSON as Go does: sorted keys, no spaces, whole numbers without a point, <, > and & escaped."""
    text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


SPRIG: dict[str, Callable[..., Any]] = {
    "eq": _equal,
    "ne": lambda first, second: not _equal(first, second),
    "len": _len,
    "index": _index,
    "printf": _printf,
    "default": _default,
    "empty": _empty,
    "coalesce": lambda *values: next((value for value in values if not _empty(value)), None),
    "ternary": _ternary,
    "trim": lambda value: _text(value).strip(),
    "trimAll": lambda marks, value: _text(value).strip(_text(marks)) if marks else _text(value),
    "trimSuffix": lambda end, value: _text(value).removesuffix(end),
    "trimPrefix": lambda start, value: _text(value).removeprefix(start),
    "upper": lambda value: _text(value).upper() if value.isascii() else _text(None),
    "lower": lambda value: _text(value).lower() if value.isascii() else _text(None),
    "replace": lambda old, new, value: _text(value).replace(old, _text(new)) if old else _text(None),
    "contains": lambda part, value: _text(part) in _text(value),
    "hasPrefix": lambda start, value: _text(value).startswith(_text(start)),
    "hasSuffix": lambda end, value: _text(value).endswith(_text(end)),
    "trunc": lambda count, value: _trunc(count, _text(value)),
    "indent": lambda spaces, value: _indent(spaces, _text(value)),
    "nindent": lambda spaces, value: "\n" + _indent(spaces, _text(value)),
    "quote": lambda *values: " ".join(quoted(_strval(value)) for value in values if value is not None),
    "squote": lambda *values: " ".join(f"'{_strval(value)}'" for value in values if value is not None),
    "toString": _strval,
    "b64enc": lambda value: base64.b64encode(_text(value).encode()).decode(),
    "b64dec": lambda value: base64.b64decode(_text(value), validate=True).decode(),
    "join": lambda separator, values: _join(_text(separator), values),
    "splitList": lambda separator, value: _text(value).split(_text(separator)),
    "list": lambda *values: list(values),
    "hasKey": lambda value, key: _text(key) in dict(value),
    "toJson": _json,
    "regexMatch": lambda pattern, value: bool(_expression(_text(pattern)).search(_text(value))),
    "regexReplaceAll": lambda pattern, value, new: _replace_all(_text(pattern), _text(value), _text(new)),
    "semver": lambda version: _semver(_text(version)),
    "semverCompare": lambda constraint, version: _semver_compare(_text(constraint), _text(version)),
}
"""The functions by name; those of text/template that take JSON values too are among them."""
