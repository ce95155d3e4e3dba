"""Shares the values of many fields out among rounds: in each one, every field of a request has another value."""

from collections.abc import Iterator, Sequence

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from slipway.conformance.alphabet import SIGNS, is_allowed, numbers, rules_of, texts
from slipway.conformance.changes import Change, scalars, value_at
from slipway.contract.field_plans import plan
from slipway.contract.items import within
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import options_pb2 as optionspb

LEFT_OUT = (
    "slipway.v1alpha1.Origin", "slipway.v1alpha1.Content", "slipway.v1alpha1.OpaqueDocument",
    "slipway.v1alpha1.SecretReference", "slipway.v1alpha1.ClusterCredentials", "google.protobuf.Duration",
    "required_features", "features_computed", "id", "api_version", "bundle_version", "machine", "cluster", "execution",
    "provenance", "secrets", "extensions", "engine_options",
    "owner", "group", "groups", "primary_group", "kubernetes_version", "os_version", "role", "percentage", "start",
    "Argument.value", "ComponentFile.argument", "ComponentFile.name", "HostPathVolume.name", "StaticPod.name",
    "TrustedCertificate.name",
)  # fmt: skip
"""What has a meaning elsewhere in the bundle, only identifies an item, or that other checks vary.

Sizes in percent belong together; a program and its contents are tried by EXE-001 and RND-015.
"""

JOINED = frozenset({"no_proxy", "options", "sudo"})
"""Lists that systems write with commas between their entries."""

_KEYS = frozenset({"name", "path"})
"""Fields by which other items and documents know an item."""

_PARTS = ("os", "commands", "plan", "intent")
_MANY = 12


def value_rounds(bundle: bundlepb.BootstrapBundle, tried: set[str]) -> Iterator[list[Change]]:
    """Give rounds of values: signs and lengths of texts, edges of numbers, words of enums, both truths.

    Args:
        bundle: what is changed.
        tried: names of fields that have been tried; those of this bundle are added.
    """
    choices: list[list[Change]] = []
    fresh = set()
    for path, message, field in scalars(bundle, LEFT_OUT):
        name = named(path)
        if field.name in _KEYS:
            # What a name may be can depend on what its item says besides.
            name += f" beside {' '.join(other.name for other, _ in message.ListFields())}"
        if path.partition(".")[0] not in _PARTS or name in tried or path.endswith("argv[0]"):
            continue
        fresh.add(name)
        choices.append([Change(path, value) for value in _values(bundle, path, message, field)])
    tried |= fresh
    yield from _shared_out(choices)


def unset_rounds(bundle: bundlepb.BootstrapBundle) -> Iterator[list[Change]]:
    """Give rounds in which each item lacks one of the fields that it need not have, each time another one."""
    by_message: dict[str, list[Change]] = {}
    for path, field in _optional(bundle, ""):
        if path.partition(".")[0] in _PARTS and field.name not in _SAID:
            by_message.setdefault(path.rpartition(".")[0], []).append(Change(path, None))
    for changes in _shared_out([choices for choices in by_message.values() if len(choices) > 1]):
        yield from _apart(changes)


def list_rounds(bundle: bundlepb.BootstrapBundle, tried: set[str]) -> Iterator[list[Change]]:
    """Give rounds of lists of texts: two, the other way around, as many as hardly anybody has; and none."""
    choices = []
    for path, message, field in scalars(bundle, [name for name in LEFT_OUT if name not in _LISTS]):
        if not field.is_repeated or not path.endswith("[0]") or field.type != FieldDescriptor.TYPE_STRING:
            continue
        whole = path.removesuffix("[0]")
        if whole.partition(".")[0] not in _PARTS or named(whole) in tried or field.name in _WHOLE:
            continue
        tried.add(named(whole))
        held = list(getattr(message, field.name))
        further = list(_like(rules_of(field), held[0], _MANY))
        shapes = [further[:2], further[2::-1], sorted(further[:_MANY], key=lambda text: text[::-1]), held[:1]]
        choices.append([Change(whole, shape) for shape in shapes if shape and shape != held])
    yield from _shared_out(choices)


_SAID = frozenset({"mode", "role", "value", "unit_name", "argv", "script", "content", "source", "port"})
"""What a bundle always says, or without which an item has no meaning."""

_LISTS = frozenset({"groups"})
_WHOLE = frozenset({"argv", "groups"})
"""Lists that are tried by EXE-001, or that name accounts of the bundle."""


def named(path: str) -> str:
    """Give a path without the numbers of entries: the field in its place."""
    return "".join(part.partition("]")[2] if "]" in part else part for part in path.split("["))


def _values(bundle: bundlepb.BootstrapBundle, path: str, message: Message, field: FieldDescriptor) -> Iterator[object]:
    value = value_at(bundle, path)
    if field.enum_type is not None:
        yield from (number for number in field.enum_type.values_by_number if number not in {0, value})
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (number for number in numbers(field) if number != value)
    elif isinstance(value, str):
        rules = rules_of(field)
        if isinstance(message, contentpb.MachineText):
            above = path.rpartition(".")[0]
            holder = value_at(bundle, above.rpartition(".")[0])
            rules = rules_of(holder.DESCRIPTOR.fields_by_name[above.rpartition(".")[2].partition("[")[0]])
        signs = tuple(sign for sign in SIGNS if "," not in sign) if field.name in JOINED else SIGNS
        yield from (text for text in texts(rules, value, signs=signs) if text != value)


def _optional(message: Message, path: str) -> Iterator[tuple[str, FieldDescriptor]]:
    plans = plan(message.DESCRIPTOR)
    for field, value in message.ListFields():
        where = f"{path}.{field.name}" if path else field.name
        if (field.message_type is not None and field.message_type.full_name in LEFT_OUT) or field.name in LEFT_OUT:
            continue
        oneof = field.containing_oneof
        may_lack = field.is_repeated or (field.has_presence and (oneof is None or len(oneof.fields) == 1))
        if may_lack and not plans[field.number].rules.required and path not in {"", "intent", "plan"}:
            yield where, field
        if field.message_type is not None:
            for index, entry in enumerate(value if field.is_repeated else [value]):
                yield from _optional(entry, f"{where}[{index}]" if field.is_repeated else where)


def _like(rules: optionspb.FieldRules, text: str, count: int) -> Iterator[str]:
    """Give a text and others that its rules allow, which differ from it in a sign or two."""
    seen = {text}
    yield text
    for place in reversed(range(len(text) + 1)):
        for sign in "123456789":
            for other in (text[:place] + sign + text[place:], text[:place] + sign + text[place + 1 :]):
                if other not in seen and len(seen) < count and is_allowed(rules, other):
                    seen.add(other)
                    yield other


def _apart(changes: list[Change]) -> Iterator[list[Change]]:
    """Give a round without what lies in something that it takes away, and that in rounds of its own."""
    gone = [change.path for change in changes]
    masked = [change for change in changes if any(within(change.path, path) and change.path != path for path in gone)]
    yield [change for change in changes if change not in masked]
    if masked:
        yield from _apart(masked)


def _shared_out(choices: Sequence[list[Change]]) -> Iterator[list[Change]]:
    """Give the first of each, then the second of each, and so on."""
    for number in range(max(map(len, choices), default=0)):
        yield [changes[number] for changes in choices if number < len(changes)]
