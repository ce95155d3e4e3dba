"""Makes other bundles of a bundle: with values that need quoting, that look like something else, or that are not said.

What an author forgets is in no list of cases. So each field of a case is given every value of a list that its own rules
allow; a field that is added to the contract is tried on the day it is added.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from slipway.conformance.candidates import MEANINGS, SPECIAL, allowed_words, others
from slipway.conformance.faults import faults, fits
from slipway.contract.field_plans import plan
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb

PARTS = ("os", "commands", "plan", "intent")
"""Parts of a bundle that decide what a machine becomes."""

_LEFT = frozenset({
    "slipway.v1alpha1.Content", "slipway.v1alpha1.Origin", "slipway.v1alpha1.SecretValue",
    "slipway.v1alpha1.SecretReference", "slipway.v1alpha1.ClusterCredentials", "slipway.v1alpha1.OpaqueDocument",
})  # fmt: skip
"""Messages whose values have a meaning elsewhere in the bundle, or that other checks try."""

_LEFT_FIELDS = frozenset({
    "argv", "contents", "group", "kubernetes_version", "os_version", "owner", "percentage", "role",
})  # fmt: skip
"""Fields that other checks try, whose values belong together, or that have no rules of their own."""

_LEFT_NAMES = frozenset({
    "Argument.value", "ComponentFile.argument", "ComponentFile.name", "HostPathVolume.name", "StaticPod.name",
    "TrustedCertificate.name",
})  # fmt: skip
"""Fields that only identify an item, whose value a document has, too, or whose meaning depends on another field."""

_DURATION = Duration.DESCRIPTOR.full_name


@dataclass(frozen=True, slots=True)
class Variation:
    """A bundle that differs from that of a case in one field.

    Attributes:
        field: the field, "Message.field", for people.
        bundle: the whole of it.
        before: the bundle as the case has it, where one field of it differs; None where more does.
        unset: the field is there no longer.
    """

    field: str
    bundle: bundlepb.BootstrapBundle
    before: bundlepb.BootstrapBundle | None = None
    unset: bool = False


Steps = tuple[tuple[str, int | None], ...]
"""The way to a field: names, each with the index of an entry where the field is a list."""


def values(bundle: bundlepb.BootstrapBundle, tried: set[str]) -> Iterator[Variation]:
    """Give the bundle with other values of each field that is not in `tried`, to which it is added."""
    known = faults(bundle)
    for path, message, field in list(_fields(bundle, ())):
        name = f"{message.DESCRIPTOR.name}.{field.name}"
        if isinstance(message, contentpb.MachineText | contentpb.TextSegment):
            # What may stand there depends on where it is.
            depth = 3 if isinstance(message, contentpb.MachineText) else 4
            name = ".".join(step for step, _ in path[-depth:])
        if name in tried or name in _LEFT_NAMES:
            continue
        tried.add(name)
        seen = [bundle]
        for candidates in others(message, field, path[-1][1]):
            made = (_with(bundle, path, value) for value in candidates)
            other = next((candidate for candidate in made if fits(candidate, bundle, known)), None)
            if other is not None and other not in seen:
                seen.append(other)
                yield Variation(name, other, bundle, unset=candidates == (None,))


def words(bundle: bundlepb.BootstrapBundle, tried: set[str]) -> Iterator[Variation]:
    """Give the bundle with each word that has a meaning of its own, beside all that the cases say with it."""
    known = faults(bundle)
    for path, message, field in list(_fields(bundle, ())):
        beside = ".".join(sorted(other.name for other, _ in message.ListFields()))
        name = f"{message.DESCRIPTOR.name}.{field.name} beside {beside}"
        if field.type != FieldDescriptor.TYPE_STRING or name in tried:
            continue
        tried.add(name)
        rules = plan(message.DESCRIPTOR)
        special = SPECIAL.get(rules[field.number].rules.format, ()) if field.number in rules else ()
        for word in (
            *allowed_words(message, field),
            *special,
            *MEANINGS.get(f"{message.DESCRIPTOR.name}.{field.name}", ()),
        ):
            if field.is_repeated and word in getattr(message, field.name):
                continue
            other = _with(bundle, path, word)
            if other != bundle and fits(other, bundle, known):
                yield Variation(f"{message.DESCRIPTOR.name}.{field.name}", other, bundle)


def parts(bundle: bundlepb.BootstrapBundle, tried: set[str]) -> Iterator[Variation]:
    """Give the bundle with each text that may have parts in two of them; fields in `tried` are left out."""
    known = faults(bundle)
    for path, message, field in list(_fields(bundle, ())):
        name = ".".join(step for step, _ in path[-3:])
        if not isinstance(message, contentpb.MachineText) or len(message.value) <= 1 or name in tried:
            continue
        tried.add(name)
        other = bundlepb.BootstrapBundle()
        other.CopyFrom(bundle)
        text = held_by(other, path[:-1])
        half = len(message.value) // 2
        text.ClearField(field.name)
        for part in (message.value[:half], message.value[half:]):
            text.segments.add(text=part)
        if fits(other, bundle, known):
            yield Variation(name, other, bundle)


def lists(bundle: bundlepb.BootstrapBundle, tried: set[str]) -> Iterator[Variation]:
    """Give the bundle with three entries in place of one: like the first one, with less, and like it again.

    They have names of their own. Lists that are in `tried` are left out; others are added to it.
    """
    known = faults(bundle)
    for path, message, field in list(lists_of(bundle, ())):
        name = f"{message.DESCRIPTOR.name}.{field.name}"
        if name in tried:
            continue
        tried.add(name)
        other = bundlepb.BootstrapBundle()
        other.CopyFrom(bundle)
        entries = getattr(held_by(other, path), field.name)
        first = type(entries[0])()
        first.CopyFrom(entries[0])
        del entries[:]
        for number in (2, 1, 3):
            entries.append(renamed(first, f"-{number}"))
        _bare(entries[1])
        if fits(other, bundle, known):
            yield Variation(name, other)


def _with(bundle: bundlepb.BootstrapBundle, path: Steps, value: Any) -> bundlepb.BootstrapBundle:
    """Give a copy with another value of a field, or without it; where a name is referred to, it changes, too."""
    other = bundlepb.BootstrapBundle()
    other.CopyFrom(bundle)
    holder = held_by(other, path[:-1])
    name, index = path[-1]
    if value is None:
        holder.ClearField(name)
    elif isinstance(value, Message):
        getattr(holder, name).CopyFrom(value)
    elif index is None:
        before = getattr(holder, name)
        setattr(holder, name, value)
        if isinstance(value, str):
            _rename(other, before, value)
    else:
        getattr(holder, name)[index] = value
    return other


def _fields(message: Message, path: Steps) -> Iterator[tuple[Steps, Message, FieldDescriptor]]:
    for field, value in message.ListFields():
        if (not path and field.name not in PARTS) or field.name in _LEFT_FIELDS:
            continue
        if field.message_type is None:
            if field.type != FieldDescriptor.TYPE_BYTES:
                yield (*path, (field.name, 0 if field.is_repeated else None)), message, field
        elif field.message_type.full_name == _DURATION:
            yield (*path, (field.name, None)), message, field
        elif field.message_type.full_name not in _LEFT:
            for number, entry in enumerate(value if field.is_repeated else [value]):
                yield from _fields(entry, (*path, (field.name, number if field.is_repeated else None)))


def lists_of(message: Message, path: Steps) -> Iterator[tuple[Steps, Message, FieldDescriptor]]:
    """Give each list of messages below a message: the way to its holder, the holder, and the field."""
    for field, value in message.ListFields():
        if (not path and field.name not in PARTS) or field.message_type is None:
            continue
        if field.message_type.full_name in _LEFT or field.name == "static_pods":
            continue
        if field.is_repeated and not isinstance(value[0], contentpb.Segment | contentpb.TextSegment):
            yield path, message, field
        for number, entry in enumerate(value if field.is_repeated else [value]):
            yield from lists_of(entry, (*path, (field.name, number if field.is_repeated else None)))


def held_by(message: Message, path: Sequence[tuple[str, int | None]]) -> Any:
    """Give what stands at the end of a way that begins at a message."""
    holder: Any = message
    for name, index in path:
        value = getattr(holder, name)
        holder = value if index is None else value[index]
    return holder


def _rename(message: Message, before: str, after: str) -> None:
    for field, value in message.ListFields():
        if field.message_type is not None:
            for entry in value if field.is_repeated else [value]:
                _rename(entry, before, after)
        elif field.type == FieldDescriptor.TYPE_STRING and field.name in _REFERENCES:
            if field.is_repeated:
                value[:] = [after if text == before else text for text in value]
            elif value == before:
                setattr(message, field.name, after)


_REFERENCES = frozenset({"owner", "group", "groups", "primary_group"})


def renamed(first: Message, suffix: str, *, kept: str = "") -> Message:
    """Give a copy whose texts, but for that of one field, end otherwise, where the rules of their fields allow it."""
    other = type(first)()
    other.CopyFrom(first)
    known = faults(first)
    for field, value in first.ListFields():
        if field.type != FieldDescriptor.TYPE_STRING or field.is_repeated or field.name in _REFERENCES | {kept}:
            continue
        setattr(other, field.name, f"{value}{suffix}")
        if not faults(other) <= known:
            setattr(other, field.name, value)
    return other


def _bare(entry: Message) -> None:
    """Take from an entry what it need not have; what remains tells it from others."""
    for field, _ in entry.ListFields():
        rules = plan(entry.DESCRIPTOR)[field.number].rules
        if rules.required or field.name in _KEPT or not (field.has_presence or field.is_repeated):
            continue
        entry.ClearField(field.name)


_KEPT = frozenset({
    "name", "path", "device", "host", "source", "key", "argument", "owner", "group", "mode", "effect", "type", "format",
    "size_mib", "url", "id", "phase", "command", "argv", "target", "contents", "endpoints",
})  # fmt: skip
"""Fields without which an entry means nothing, or that a bundle always says."""
