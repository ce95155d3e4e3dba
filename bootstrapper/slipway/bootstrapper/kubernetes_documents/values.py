"""What Kubernetes' decoder accepts as a value of a plain type; a value is never repeated.

Sources: encoding/json and sigs.k8s.io/json; UnmarshalJSON of metav1.Duration, metav1.Time, resource.Quantity and
intstr.IntOrString in k8s.io/apimachinery.
"""

import binascii
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any

_BITS = {"int": 64, "int8": 8, "int16": 16, "int32": 32, "int64": 64, "uint8": 8, "uint32": 32, "uint64": 64}
_DURATION = re.compile(r"[+-]?(?:0|(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))++)")
_QUANTITY = re.compile(
    r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?",
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)")
_MOST = 10**21
"""From here on Go writes a float with an exponent, which is no integer to it."""


def mismatch(value: Any, expected: str) -> str:
    """Say what a value must be, where it is not of the expected plain type; "" where it is."""
    if expected == "any" or (value is None and expected != "duration"):
        return ""
    if expected in _BITS:
        return _integer(value, expected)
    check, message = _CHECKS[expected]
    return "" if check(value) else message


def _integer(value: Any, expected: str) -> str:
    bits = _BITS[expected]
    low, high = (0, 2**bits - 1) if expected.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "must be an integer"
    if isinstance(value, float) and not (value.is_integer() and abs(value) < _MOST):
        return "must be an integer"
    return "" if low <= value <= high else f"must be an integer from {low} to {high}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_bytes(value: Any) -> bool:
    if isinstance(value, list):
        return all(byte is None or not _integer(byte, "uint8") for byte in value)
    try:
        return isinstance(value, str) and b64decode(re.sub(r"[\r\n]", "", value), validate=True) is not None
    except (binascii.Error, ValueError):
        return False


def _is_quantity(value: Any) -> bool:
    return _is_number(value) or (isinstance(value, str) and _QUANTITY.fullmatch(value.strip()) is not None)


def _is_int_or_string(value: Any) -> bool:
    return isinstance(value, str) or not _integer(value, "int32")


def _is_duration(value: Any) -> bool:
    return isinstance(value, str) and _DURATION.fullmatch(value) is not None


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and _TIME.fullmatch(value) is not None


_CHECKS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "string": (lambda value: isinstance(value, str), "must be text: put it in quotes"),
    "bool": (lambda value: isinstance(value, bool), "must be true or false"),
    "float": (_is_number, "must be a number"),
    "bytes": (_is_bytes, "must be base64"),
    "duration": (_is_duration, "must be a duration such as 1h30m or 10s"),
    "*duration": (_is_duration, "must be a duration such as 1h30m or 10s"),
    "durationOrInt": (
        lambda value: _is_duration(value) or not _integer(value, "int64"),
        "must be a duration such as 5s",
    ),
    "time": (_is_time, "must be a time such as 2030-01-31T12:00:00Z"),
    "quantity": (_is_quantity, "must be a quantity such as 500m or 2Gi"),
    "intOrString": (_is_int_or_string, "must be an integer or text"),
}
