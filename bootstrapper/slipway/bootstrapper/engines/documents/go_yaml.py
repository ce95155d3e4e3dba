"""Documents that engines write equal, byte by byte, what programs in Go would write, so they are emitted as Go does it.

PyYAML's emitter is a port of the same libyaml that Go's encoder is a port of. What differs is decided here:
the order of keys, the quoting of text that would read as another type, and lines that are never folded.
"""

import re
from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

import yaml

from slipway.bootstrapper.engines.documents.document import Tree

_GO_BOOLEANS = frozenset({"y", "Y", "n", "N"})
_GO_INTEGER = re.compile(r"[-+]?0[oO][0-7_]+")
_GO_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_DIGITS = "0123456789"
_LOST_UNQUOTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_TEXT_TAGS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:yaml")
_NEVER = 2**31 - 1
_PLAIN = re.compile("[ -~]*")


class _NoAliases:
    """Prints a value again instead of pointing to its first use."""

    def ignore_aliases(self, data: object) -> bool:
        """Return True for every value."""
        del data
        return True


class GoYamlDumper(_NoAliases, yaml.SafeDumper):
    """Emits block style as sigs.k8s.io/yaml does."""


class FastDumper(_NoAliases, yaml.CSafeDumper):
    """Emits the same three times as fast, for documents of printable ASCII on single lines.

    libyaml itself differs elsewhere: it escapes what is beyond Unicode's first plane, and ends some documents by "...".
    """


def dump_yaml(tree: dict[str, Tree]) -> str:
    """Emit one document without a separator and with a trailing newline; keys are put in Go's order."""
    text: str = yaml.dump(
        sort_keys(tree),
        Dumper=FastDumper if _is_plain(tree) else GoYamlDumper,
        sort_keys=False,
        default_flow_style=False,
        allow_unicode=True,
        width=_NEVER,
    )
    return text


def sort_keys(value: Tree) -> Tree:
    """Order every mapping as Go's YAML encoder does: letters by code point, numbers inside keys by value."""
    if isinstance(value, dict):
        return {key: sort_keys(value[key]) for key in sorted(value, key=cmp_to_key(_compare_keys))}
    if isinstance(value, list):
        return [sort_keys(item) for item in value]
    return value


def _compare_keys(left: str, right: str) -> int:
    for position, (a, b) in enumerate(zip(left, right, strict=False)):
        if a == b:
            continue
        if a.isalpha() != b.isalpha():
            return -1 if b.isalpha() else 1
        if a in _DIGITS and b in _DIGITS:
            start = _start_of_digits(left, position)
            numbers = _number_at(left, start), _number_at(right, start)
            if numbers[0] != numbers[1]:
                return -1 if numbers[0] < numbers[1] else 1
        return -1 if a < b else 1
    return len(left) - len(right)


def _start_of_digits(text: str, position: int) -> int:
    while position > 0 and text[position - 1] in _DIGITS:
        position -= 1
    return position


def _number_at(text: str, start: int) -> int:
    end = start
    while end < len(text) and text[end] in _DIGITS:
        end += 1
    return int(text[start:end] or "0")


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if _LOST_UNQUOTED.search(text):
        style = '"'
    elif "\n" in text:
        style = "|"
    elif _reads_as_another_type(dumper, text):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _reads_as_another_type(dumper: yaml.SafeDumper, text: str) -> bool:
    tag = dumper.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]  # PyYAML has no types there
    return (
        tag not in _TEXT_TAGS
        or text in _GO_BOOLEANS
        or _GO_INTEGER.fullmatch(text) is not None
        or _GO_FLOAT.fullmatch(text) is not None
    )


def _is_plain(value: Tree) -> bool:
    """Report whether all texts of a tree, keys included, are printable ASCII on a single line."""
    if isinstance(value, str):
        return _PLAIN.fullmatch(value) is not None
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_plain(each) for key, each in value.items())
    return all(map(_is_plain, value)) if isinstance(value, list) else True


def represent(kind: type, representer: Callable[[yaml.SafeDumper, Any], yaml.Node]) -> None:
    """Have both dumpers emit the values of a type by a function."""
    dumpers: tuple[Any, ...] = (GoYamlDumper, FastDumper)
    for dumper in dumpers:
        dumper.add_representer(kind, representer)


represent(str, _represent_text)
