"""Whether a patch fits the types of the Talos version that reads the configuration, by field and line.

Talos decodes a patch into its own types before it merges it, and refuses an unknown field and a value of another type.
The types are those of Talos' Go module (`make talos-types`). Of a version that they do not have, an unknown field may
be right: it is no certain mistake. What a patch deletes is taken out before.
"""

import ipaddress
import math
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from slipway.contract.go_duration import parse_go_duration
from slipway.contract.strict_decoding import Mistake, StrictDecoder
from slipway.contract.type_table import Known, TypeTable, read_type_table
from slipway.contract.yaml_document import Document
from slipway.contract.yaml_scalars import plain_value
from slipway.provisioners.talos.patch import deletes
from slipway.provisioners.talos.versions import TalosVersion
from slipway.provisioners.talos.yaml_text import Spelling

_VERSION = "v1alpha1"
_MAIN = frozenset({"machine", "cluster", "debug", "persist"})
"""Fields by which Talos knows the main document, which has no kind."""

_HEAD = frozenset({"version", "kind", "name"})
_SWITCHES = frozenset({"y", "Y", "yes", "on", "n", "N", "no", "off"})
"""Words that Talos' YAML reader takes for a boolean even in quotes."""

_INTEGER = re.compile(r"(u?)int(\d*)")


def patch_mistakes(documents: Iterable[Document], version: TalosVersion) -> Iterator[Mistake]:
    """Give what the version does not take in a patch, with the line in the message, and never a value."""
    table = _table(version.minor)
    for document in documents:
        for mistake in _of_document(document.value, table):
            line = document.source.position(mistake.path).line
            yield replace(mistake, message=f"line {line}: {mistake.message}")


@cache
def _table(minor: int) -> TypeTable:
    return read_type_table("slipway.provisioners.talos", (1, minor), version=f"Talos 1.{minor}")


def _of_document(tree: Any, table: TypeTable) -> Iterator[Mistake]:
    if not isinstance(tree, dict) or deletes(tree) or tree.keys() <= _HEAD:
        return  # What is no mapping is refused by the merge, and what only names a document says nothing.
    kind, api_version = tree.get("kind") or "", tree.get("apiVersion") or ""
    if not _MAIN.isdisjoint(tree):
        api_version = _VERSION
    missing = [name for name, value in (("kind", kind), ("apiVersion", api_version)) if not value]
    if missing and (kind or api_version != _VERSION):
        yield Mistake((missing[0],), "is required")
        return
    known, type_name = table.kind(str(api_version), str(kind))
    if known is Known.YES:
        yield from StrictDecoder(table, mismatch, is_left_out=deletes).mistakes(tree, type_name)
    else:
        verb = "is" if known is Known.NO else "may be"
        yield Mistake(("kind",), f"{verb} no kind of {table.version}", certain=known is Known.NO)


def mismatch(value: Any, expected: str) -> str:
    """Say what a value must be, where Talos' YAML reader does not take it for the plain type; "" where it does."""
    if value is None or expected == "any":
        return ""
    if expected == "stringOrStrings" and isinstance(value, list):
        expected = "string"
        values: list[Any] = value
    else:
        values = [value]
    check, message = _check(expected)
    return (
        "" if all(item is None or (not isinstance(item, dict | list) and check(item)) for item in values) else message
    )


def _check(expected: str) -> tuple[Callable[[Any], bool], str]:
    integer = _INTEGER.fullmatch(expected)
    if integer:
        bits = int(integer[2] or 64)
        low, high = (0, 2**bits - 1) if integer[1] else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return lambda value: low <= _number(value) <= high, f"must be an integer from {low} to {high}"
    return _CHECKS[expected]


def _number(value: Any) -> float:
    """Give a number, or NaN, which lies in no range."""
    number = plain_value(value) if isinstance(value, Spelling) else None
    return number if isinstance(number, int | float) and not isinstance(number, bool) else math.nan


def _is_text(_value: Any) -> bool:
    return True


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or value in _SWITCHES


def _is_base64(value: Any) -> bool:
    try:
        return b64decode(re.sub(r"[\r\n]", "", _spelt(value)), validate=True) is not None
    except ValueError:
        return False


def _is_address(value: Any) -> bool:
    return not value or _parses(ipaddress.ip_address, value)


def _is_prefix(value: Any) -> bool:
    return not value or ("/" in _spelt(value) and _parses(ipaddress.ip_interface, value))


def _parses(parse: Callable[[str], object], value: Any) -> bool:
    try:
        parse(_spelt(value))
    except ValueError:
        return False
    return True


def _spelt(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_CHECKS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "string": (_is_text, "must be text"),
    "stringOrStrings": (_is_text, "must be text, or a list of text"),
    "bool": (_is_bool, "must be true or false"),
    "float": (lambda value: not math.isnan(_number(value)), "must be a number"),
    "bytes": (_is_base64, "must be base64"),
    "size": (lambda value: _spelt(value)[:1].isdigit(), "must be a size such as 10GB"),
    "duration": (
        lambda value: not isinstance(value, bool | Spelling) and _parses(parse_go_duration, value),
        "must be a duration such as 1m30s",
    ),
    "address": (_is_address, "must be an IP address"),
    "prefix": (_is_prefix, "must be an address with the length of its network, such as 10.0.0.0/8"),
}
