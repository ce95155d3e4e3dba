"""Sets items of a bundle in relation to each other: equal values, one that begins another, a path below another path.

What an author takes for granted of two items, that they have nothing to do with each other, is in no list of cases. So
each field gets a value that is made of another field's, chosen by a seed: the same seed gives the same bundles.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from slipway.conformance.alphabet import is_allowed, rules_of
from slipway.conformance.candidates import MEANINGS
from slipway.conformance.changes import Change, scalars, value_at
from slipway.conformance.rounds import JOINED, LEFT_OUT, named
from slipway.contract.field_plans import plan
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb

_PARTS = ("os", "commands", "plan", "intent")
_WORDS = frozenset({"identifier", "partition-type", "sha256", "sha512"})
"""Grammars of words that stand for something: another one is another thing, or nothing."""

_LEFT = (
    *(name for name in LEFT_OUT if name != "slipway.v1alpha1.Content"),
    "argv",
    "type",
    "remote",
    "kubelet_arguments",
)
_ENDS = ("1", "0", "-1", ".1", ":5000", "/1", "x")
"""What makes a value the beginning of another one."""

_ACCOUNTS = frozenset({"group", "groups", "owner", "primary_group"})
_OFTEN, _SOMETIMES, _SELDOM = 0.5, 0.3, 0.15


def relations(bundle: bundlepb.BootstrapBundle, chance: Random) -> list[Change]:
    """Give changes after which many items of a bundle have to do with each other."""
    texts = list(_texts(bundle))
    changes = [change for place in texts if chance.random() < _OFTEN for change in _related(place, texts, chance)]
    changes += _moved(bundle, chance)
    changes += _accounts(bundle, chance)
    changes += _contents(bundle, chance)
    return [*changes, *_orders(bundle, chance)]


Place = tuple[str, FieldDescriptor, str]
"""A field with a text: path, descriptor, value."""


def _texts(bundle: bundlepb.BootstrapBundle) -> Iterator[Place]:
    for path, _, field in scalars(bundle, _LEFT):
        is_text = field.type == FieldDescriptor.TYPE_STRING and rules_of(field).format not in _WORDS
        if is_text and path.partition(".")[0] in _PARTS:
            yield path, field, str(value_at(bundle, path))


def _related(place: Place, texts: Sequence[Place], chance: Random) -> Iterator[Change]:
    """Give the field another value, made of one of the same field, of the same kind, or of any."""
    path, field, value = place
    others = [other for other in texts if other[0] != path]
    nearer = [
        [other for other in others if named(other[0]) == named(path)],
        [other for other in others if rules_of(other[1]).format == rules_of(field).format],
        others,
    ]
    known = [some for some in nearer if some]
    if known:
        # What goes on where this one ends is no longer what another item refers to.
        source = value if chance.random() < _SOMETIMES else chance.choice(chance.choice(known))[2]
        kinds = [
            [text for text in kind if text != value and is_allowed(rules_of(field), text)]
            for kind in ([source], [f"{source}{end}" for end in _ENDS], list(_near(source, value)))
        ]
        kinds = [[text for text in kind if field.name not in JOINED or "," not in text] for kind in kinds]
        if any(kinds):
            yield Change(path, chance.choice(chance.choice([kind for kind in kinds if kind])))


def _moved(bundle: bundlepb.BootstrapBundle, chance: Random) -> Iterator[Change]:
    """Move nodes into the places that other items make, right below them and deep."""
    made = [mount.path for mount in bundle.os.mounts] + [directory.path for directory in bundle.os.directories]
    made += [user.home or f"/home/{user.name}" for user in bundle.os.users]
    places = [place.rstrip("/") for place in made if place.startswith("/")]
    for kind in ("files", "directories", "links"):
        for index, node in enumerate(getattr(bundle.os, kind)):
            if places and chance.random() < _OFTEN:
                last = node.path.rpartition("/")[2]
                yield Change(f"os.{kind}[{index}].path", f"{chance.choice(places)}{chance.choice(['', '/a/b'])}/{last}")
    for index, mount in enumerate(bundle.os.mounts):
        if chance.random() < _OFTEN:
            options = sorted({*mount.options, *MEANINGS["Mount.options"]})
            yield Change(f"os.mounts[{index}].options", chance.sample(options, chance.randint(1, 3)))


def _near(source: str, value: str) -> Iterator[str]:
    """Give paths of two paths: one below the other, in its folder, with its last part."""
    folder, slash, last = source.rpartition("/")
    own_folder, own_slash, own_last = value.rpartition("/")
    if slash and own_slash:
        yield f"{source.rstrip('/')}/{own_last}"
        yield f"{source.rstrip('/')}/a/b/{own_last}"
        yield f"{folder}/{own_last}"
        yield f"{own_folder}/{last}"


def _accounts(bundle: bundlepb.BootstrapBundle, chance: Random) -> Iterator[Change]:
    """Give users other groups of the bundle, one of their own name too, and items other owners of it."""
    groups = [group.name for group in bundle.os.groups]
    owners = ["root", *(user.name for user in bundle.os.users)]
    for index, user in enumerate(bundle.os.users):
        if groups and chance.random() < _OFTEN:
            yield Change(f"os.users[{index}].groups", chance.sample(groups, chance.randint(1, len(groups))))
        if groups and user.HasField("primary_group"):
            yield Change(f"os.users[{index}].primary_group", chance.choice(groups))
    for kind in ("files", "directories", "links"):
        for index, item in enumerate(getattr(bundle.os, kind)):
            if chance.random() < _OFTEN and not getattr(item, "hard", False):
                yield Change(f"os.{kind}[{index}].owner", chance.choice(owners))
                yield Change(f"os.{kind}[{index}].group", chance.choice(["root", *groups]))


def _contents(bundle: bundlepb.BootstrapBundle, chance: Random) -> Iterator[Change]:
    """Give contents that others have too, or begin with."""
    places = list(_of_contents(bundle, ""))
    for path, content in places:
        others = [other for where, other in places if where != path and named(where) == named(path)]
        if others and chance.random() < _OFTEN:
            made = contentpb.Content()
            made.CopyFrom(chance.choice(others))
            if named(path) == "os.files.content" and chance.random() < _OFTEN:
                made.segments.extend(content.segments)
            yield Change(path, made)


def _of_contents(message: Message, path: str) -> Iterator[tuple[str, contentpb.Content]]:
    for field, value in message.ListFields():
        where = f"{path}.{field.name}" if path else field.name
        if field.message_type is None or (not path and field.name not in _PARTS):
            continue
        for index, entry in enumerate(value if field.is_repeated else [value]):
            place = f"{where}[{index}]" if field.is_repeated else where
            if isinstance(entry, contentpb.Content):
                yield place, entry
            else:
                yield from _of_contents(entry, place)


def _orders(bundle: bundlepb.BootstrapBundle, chance: Random) -> Iterator[Change]:
    """Give lists of texts in another order, and take what need not be needed from some items."""
    for path, _, field in scalars(bundle, _LEFT):
        whole = path.removesuffix("[0]")
        if whole != path and field.type == FieldDescriptor.TYPE_STRING and whole.partition(".")[0] in _PARTS:
            held: list[Any] = list(value_at(bundle, whole))
            if len(held) > 1 and chance.random() < _OFTEN:
                chance.shuffle(held)
                yield Change(whole, held)
    for path, message, field in scalars(bundle, _LEFT):
        rules = plan(message.DESCRIPTOR)[field.number].rules
        needed = rules.required or field.is_repeated or not field.has_presence or field.name in _SAID
        if path.startswith("os.") and not needed and chance.random() < _SELDOM:
            yield Change(path, None)


_SAID = frozenset({"mode", "value", "source", "port", "owner", "group", "size_mib", "percentage", "fact"})
"""What a bundle always says, or what belongs together with other fields."""
