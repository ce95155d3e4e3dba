"""Whether a config of the user's has the types that Ignition decodes, by field and line.

Ignition refuses a config with a value of another type as a whole, and ignores a field that it does not know, with a
warning of its own. The types are those of Ignition's Go modules (`make ignition-types`); the version of the config
itself decides.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from slipway.contract.source_position import SourceError
from slipway.contract.strict_decoding import Mistake, StrictDecoder
from slipway.contract.type_table import TypeTable, read_type_table
from slipway.contract.yaml_document import Source
from slipway.contract.yaml_limits import SHORT
from slipway.contract.yaml_source import load_documents


def config_mistakes(data: bytes, config: dict[str, Any]) -> Iterator[Mistake]:
    """Give what is wrong with a config: certain where Ignition refuses it, and not where it ignores a field.

    Args:
        data: the text of the config.
        config: the same, read; it has a version.
    """
    major, minor, *_ = str(config["ignition"]["version"]).split(".")
    table = _table(int(major), int(minor))
    source: Source | None = None
    for count, mistake in enumerate(StrictDecoder(table, mismatch).mistakes(config, table.kinds["ignition Config"])):
        if not count:
            source = _source(data)
        line = f"line {source.position(mistake.path).line}: " if source else ""
        yield replace(mistake, message=f"{line}{mistake.message}")


@cache
def _table(major: int, minor: int) -> TypeTable:
    version = f"Ignition {major}.{minor}, which ignores it then"
    table = read_type_table("slipway.provisioners.ignition", (major, minor), version=version, any_case=True)
    return replace(table, exact=False)


def _source(data: bytes) -> Source | None:
    """Give the places of the fields, or None: not all JSON can be read as YAML."""
    try:
        (document,) = load_documents(data.decode(), file="", limits=SHORT)
    except (SourceError, ValueError):
        return None
    return document.source


def mismatch(value: Any, expected: str) -> str:
    """Say what a value must be, where Go's decoder of JSON does not take it for the plain type; "" where it does."""
    if value is None:
        return ""
    if expected == "string":
        return "" if isinstance(value, str) else "must be text"
    if expected == "bool":
        return "" if isinstance(value, bool) else "must be true or false"
    is_integer = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
    return "" if is_integer else "must be an integer"
