"""Messages of the contract made up from its own descriptors, for tests that have to hold for every one of them."""

import functools
import re
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

from slipway.contract.field_plans import ORIGIN, plan

_RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_NASTY = """
y|N|on|Off|null|~||1e3|0o17|017|0x1F|1_000|1.5|.inf|-.5|+1|2026-01-31|12:30:45|<<|=|a: b|- a|# a
!tag|&a|*a|%|@|two\\nlines|three\\n\\n\\n|\\ttab\\n|cr\\r\\n|\\n|\\x00|\\x7f|\\x85|\\u2028|\\ufeff
{{ x }}|${X}|'|"|>|  in\\n out\\n|t \\nx|:|? a|[|]|,| lead|trail |
"""
_NANOS = st.integers(0, 999_999_999)
TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from([word.encode("ascii").decode("unicode_escape") for word in re.split(r"[|\n]", _NASTY)]),
    st.sampled_from(["x" * 200, "é" * 120 + " " + "b" * 50]),
)


def messages(cls: type[Message], *, internal: bool = True) -> st.SearchStrategy[Any]:
    """Give messages of a type; without `internal` only what a person may write."""
    return _messages(cls.DESCRIPTOR, internal)


@functools.cache
def _messages(descriptor: Descriptor, internal: bool) -> st.SearchStrategy[Any]:  # a cache key
    if descriptor.full_name == "google.protobuf.Duration":
        return st.builds(GetMessageClass(descriptor), seconds=st.integers(0, 9 * 10**9), nanos=_NANOS)
    if descriptor.full_name == "google.protobuf.Timestamp":
        return st.builds(GetMessageClass(descriptor), seconds=st.integers(0, 2**33), nanos=_NANOS)
    fields = [field for field in descriptor.fields if internal or not _is_internal(field)]
    if not fields:
        return st.just(GetMessageClass(descriptor)())
    return st.lists(st.sampled_from(fields), max_size=4, unique=True).flatmap(
        lambda chosen: st.builds(GetMessageClass(descriptor), **_of_oneofs(chosen, internal))
    )


def _of_oneofs(chosen: list[FieldDescriptor], internal: bool) -> dict[str, st.SearchStrategy[Any]]:
    values, taken = {}, set()
    for field in chosen:
        group = field.containing_oneof.full_name if field.containing_oneof else field.full_name
        if group not in taken:
            taken.add(group)
            one = _values(field, internal)
            values[field.name] = st.lists(one, min_size=1, max_size=2) if field.is_repeated else one
    return values


def _is_internal(field: FieldDescriptor) -> bool:
    is_origin = field.message_type is not None and field.message_type.full_name == ORIGIN
    return is_origin or plan(field.containing_type)[field.number].rules.internal


def _values(field: FieldDescriptor, internal: bool) -> st.SearchStrategy[Any]:
    if field.message_type is not None:
        return st.deferred(lambda: _messages(field.message_type, internal))
    if field.enum_type is not None:
        return st.sampled_from([value.number for value in field.enum_type.values if value.number])
    if field.type == FieldDescriptor.TYPE_BYTES:
        return st.binary(max_size=20)
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return TEXTS
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return st.booleans()
    if plan(field.containing_type)[field.number].rules.format == "file-mode":
        return st.integers(0, 0o7777)
    return st.integers(*_RANGES[field.cpp_type])
