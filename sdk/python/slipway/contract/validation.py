"""Check a message against the rules that its descriptors state.

The rules stand in the proto files, beside the field that they bind; this walks them, and finds fields that only Slipway
fills in, in a message of another program. What takes two fields to decide stands with whoever knows why (the
bootstrapper's validation).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from slipway.contract.errors import Violation
from slipway.contract.field_plans import FieldPlan, plan
from slipway.contract.grammars import grammars
from slipway.contract.times import violations_of_time
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import options_pb2 as optionspb

DEFAULT_MAX_ITEMS = 64
DEFAULT_MAX_BYTES = 1024

MAX_VIOLATIONS = 1000
"""Most broken rules that are looked for in a message; a status shows twenty of them."""


@dataclass(frozen=True, slots=True)
class TooMany(Violation):
    """A list with more entries than is allowed: none of them is looked at, here or in any further check."""


def bounded(violations: Iterable[Violation]) -> list[Violation]:
    """Give the first MAX_VIOLATIONS: a small message can break millions of rules, and they cost a kilobyte each."""
    return list(islice(violations, MAX_VIOLATIONS))


def violations(message: Message, *, path: str = "") -> Iterator[Violation]:
    """Give every rule of options.proto that the message breaks, with its field path. Values are never repeated."""
    present = {descriptor.number: value for descriptor, value in message.ListFields()}
    for number, field in plan(message.DESCRIPTOR).items():
        where = f"{path}.{field.name}" if path else field.name
        if number not in present:
            if field.rules.required:
                yield Violation(where, "is required", remedy="set it")
            continue
        value = present[number]
        if field.repeated:
            yield from _list(field, value, where)
        else:
            yield from _value(field, value, where)


def _list(field: FieldPlan, values: list[object], where: str) -> Iterator[Violation]:
    most = field.rules.max_items or DEFAULT_MAX_ITEMS
    if len(values) > most:
        yield TooMany(where, f"has {len(values)} entries; at most {most} are allowed", remedy="leave out some of them")
        return
    for index, value in enumerate(values):
        yield from _value(field, value, f"{where}[{index}]")
    if field.rules.unique_by:
        keys = [tuple(getattr(value, name) for name in field.rules.unique_by) for value in values]
        for key, count in Counter(keys).items():
            if count > 1:
                first, second = _pair(keys, key)
                names = " and ".join(field.rules.unique_by)
                yield Violation(
                    f"{where}[{second}]", f"has the same {names} as {where}[{first}]", remedy="leave out one of them"
                )


def _pair(keys: list[tuple[object, ...]], key: tuple[object, ...]) -> tuple[int, int]:
    first = keys.index(key)
    return first, keys.index(key, first + 1)


def _value(field: FieldPlan, value: object, where: str) -> Iterator[Violation]:
    rules = field.rules
    if isinstance(value, Duration | Timestamp):
        yield from violations_of_time(rules, value, where)
    elif isinstance(value, Message):
        yield from violations(value, path=where)
        yield from _grammar_of_text(rules, value, where)
    elif isinstance(value, bool):
        return
    elif isinstance(value, int):
        if field.enum is not None:
            yield from _enum(field, value, where)
        if rules.HasField("minimum") and value < rules.minimum:
            yield Violation(where, f"must be at least {rules.minimum}")
        if rules.HasField("maximum") and value > rules.maximum:
            yield Violation(where, f"must be at most {rules.maximum}")
    elif isinstance(value, (str, bytes)):
        yield from _text(rules, value, where)


def _enum(field: FieldPlan, value: int, where: str) -> Iterator[Violation]:
    """A number that the enum has no name for is a value of a younger contract; protobuf lets it pass."""
    if field.enum is not None and value not in field.enum.values_by_number:
        yield Violation(
            where,
            "is a value that this version of Slipway does not know",
            remedy="leave it out, or ask a server whose version knows it",
        )
    elif value == 0 and field.rules.required:
        yield Violation(where, "must not be the unspecified value", remedy="set it")


def _text(rules: optionspb.FieldRules, value: str | bytes, where: str) -> Iterator[Violation]:
    size = len(value.encode() if isinstance(value, str) else value)
    most = rules.max_bytes or DEFAULT_MAX_BYTES
    if size > most:
        yield Violation(where, f"has {size} bytes; at most {most} are allowed", remedy="shorten it")
    elif rules.required and size == 0:
        yield Violation(where, "must not be empty", remedy="set it")
    elif rules.format and isinstance(value, str) and value and not grammars()[rules.format].check(value):
        yield Violation(where, f"must be {grammars()[rules.format].description}")


def _grammar_of_text(rules: optionspb.FieldRules, message: Message, where: str) -> Iterator[Violation]:
    """A grammar on a MachineText or a Content binds its literal text, when that is all there is."""
    if not rules.format:
        return
    literal = _literal(message)
    if literal is not None and not grammars()[rules.format].check(literal[1]):
        yield Violation(f"{where}.{literal[0]}", f"must be {grammars()[rules.format].description}")


def _literal(message: Message) -> tuple[str, str] | None:
    """Give the name of the field that holds a message's text, and the text; None when it is not all known now."""
    if not isinstance(message, contentpb.MachineText | contentpb.Content):
        return None
    if message.segments:
        parts = [segment.WhichOneof("value") for segment in message.segments]
        if any(part not in {"text", "data"} for part in parts):
            return None
        values = [getattr(segment, part or "") for segment, part in zip(message.segments, parts, strict=True)]
        return "segments", "".join(_as_text(part) for part in values)
    if isinstance(message, contentpb.MachineText):
        return ("value", message.value) if message.HasField("value") else None
    kind = message.WhichOneof("source")
    return (kind, _as_text(getattr(message, kind))) if kind in {"text", "data"} else None


def _as_text(value: str | bytes) -> str:
    """Give bytes as text: what is no UTF-8 becomes a character that no grammar takes."""
    return value if isinstance(value, str) else value.decode(errors="replace")


def internal_fields(message: Message, *, path: str) -> Iterator[Violation]:
    """Give a violation for every field in `message` and below it that its rules call internal."""
    plans = plan(message.DESCRIPTOR)
    for descriptor, value in message.ListFields():
        field = plans[descriptor.number]
        where = f"{path}.{field.name}"
        if field.rules.internal:
            yield Violation(where, "is filled in by Slipway", remedy="leave it out")
        elif field.message is not None:
            for index, entry in enumerate(value if field.repeated else (value,)):
                yield from internal_fields(entry, path=f"{where}[{index}]" if field.repeated else where)
