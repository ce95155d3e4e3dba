"""Kubernetes decodes YAML with Go's yaml.v2, neither YAML 1.1 nor 1.2: what a bare word means stands here.

`yes`, `on` and even `y` are booleans, `0644` is octal, `1_000` is a number, a timestamp stays text. Sources:
resolve.go of go.yaml.in/yaml/v2 and sigs.k8s.io/yaml, which Kubernetes' own tools use.
"""

import math
import re
from collections.abc import Callable

Scalar = str | int | float | bool | bytes | None
ScalarReader = Callable[[str, str | None, bool], Scalar]
"""Gives the value of a scalar from its text, its explicit tag, and whether it is a plain (unquoted) one.

It raises ValueError with a message that does not repeat the text.
"""

TAG_PREFIX = "tag:yaml.org,2002:"

_WORDS: dict[str, bool | float | None] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:$|[Tt ][0-9:.Zz+-]+$)")
_LONGEST_NUMBER = 64
_NUMBER_STARTS = frozenset("+-.0123456789")


def kubernetes_scalar(text: str, tag: str | None, plain: bool) -> Scalar:  # noqa: FBT001 - ScalarReader's shape
    """Give the value that Kubernetes' tools see.

    Raises:
        ValueError: the tag is not one that Kubernetes can read, or the text does not fit it.
    """
    if tag in (None, "!", TAG_PREFIX + "str"):
        return plain_value(text) if plain and tag is None else text
    value = plain_value(text)
    match (tag or "").removeprefix(TAG_PREFIX):
        case "null" if value is None:
            return None
        case "bool" if isinstance(value, bool):
            return value
        case "int" if isinstance(value, int) and not isinstance(value, bool):
            return value
        case "float" if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        case "timestamp" if _DATE.fullmatch(text):
            return text
        case "null" | "bool" | "int" | "float" | "timestamp":
            raise ValueError("the value does not fit its tag")
        case "binary":
            raise ValueError("Kubernetes cannot read !!binary: write the base64 text without the tag")
        case _:
            raise ValueError("a tag that Kubernetes does not know")


def plain_value(text: str) -> str | int | float | bool | None:
    """Give what Go's yaml.v2 makes of an unquoted scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS or len(text) > _LONGEST_NUMBER:
        return text
    digits = text if text[0] == "." else text.replace("_", "")
    number = None if text[0] == "." else go_integer(digits)
    if number is not None:
        return number
    if _FLOAT.fullmatch(digits):
        value = float(digits)
        return text if math.isinf(value) else value
    return text


def go_integer(text: str) -> int | None:
    """Read an integer of 64 bits as Go's ParseInt and ParseUint with base 0 do: 0x, 0b, 0o, 0 for octal."""
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    sign, hexadecimal, binary, octal, decimal = match.groups()
    bases = ((hexadecimal, 16), (binary, 2), (octal, 8), (decimal, 10))
    value = next(int(digits, base) for digits, base in bases if digits is not None)
    if sign == "-":
        return -value if value <= 2**63 else None
    # A signed text is only ever read as a signed number.
    return value if value < (2**63 if sign else 2**64) else None
