"""Paths that no filesystem holds: with a name, or as a whole, longer than the system takes.

Sources: limits.h(0p), NAME_MAX and PATH_MAX (with the NUL behind it), in bytes; "Naming Files, Paths, and Namespaces"
of Windows, in units of UTF-16.
"""

import re
from collections.abc import Iterator
from functools import cache

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from slipway.contract.errors import Violation
from slipway.contract.field_plans import FieldPlan, plan
from slipway.contract.grammars import is_windows_path

_PATHS = frozenset({"absolute-path", "login-shell", "mount-point"})
"""The grammars of fields that hold a path."""
_LONGEST_NAME = 255
_LONGEST_PATH = 4095
_SEPARATORS = re.compile(r"[/\\]")


def violations(message: Message, path: str = "") -> Iterator[Violation]:
    """Give every field of a message with a path that is too long, by its field path."""
    fields, holders = plan(message.DESCRIPTOR), _holders(message.DESCRIPTOR)
    for descriptor, value in message.ListFields():
        if descriptor.number not in holders:
            continue
        field = fields[descriptor.number]
        where = f"{path}.{field.name}" if path else field.name
        for index, entry in enumerate(value if field.repeated else [value]):
            here = f"{where}[{index}]" if field.repeated else where
            if isinstance(entry, Message):
                yield from violations(entry, here)
            elif _is_too_long(entry):
                why = f"has a name of more than {_LONGEST_NAME} bytes, or more than {_LONGEST_PATH} in all"
                yield Violation(here, why, remedy="shorten it")


@cache
def _holders(descriptor: Descriptor) -> frozenset[int]:
    """Give the numbers of the fields in which a path can be, at any depth."""
    return frozenset(number for number, field in plan(descriptor).items() if _may_hold(field, frozenset()))


def _may_hold(field: FieldPlan, above: frozenset[str]) -> bool:
    if field.message is None or field.message.full_name in above:
        return field.rules.format in _PATHS
    return any(_may_hold(each, above | {field.message.full_name}) for each in plan(field.message).values())


def _is_too_long(path: str) -> bool:
    if is_windows_path(path):
        return any(len(name.encode("utf-16-le")) > 2 * _LONGEST_NAME for name in _SEPARATORS.split(path))
    return len(path.encode()) > _LONGEST_PATH or any(len(name.encode()) > _LONGEST_NAME for name in path.split("/"))
