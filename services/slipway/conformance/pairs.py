"""Makes items that say two things at once, of cases that say one each, and files in each place that a bundle makes.

A system may do each of two things, and not both: that is in no list of cases. So all pairs are made of what the cases
say of one kind of item; a case that is added is paired with all others.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from google.protobuf.message import Message

from slipway.conformance import credentials, requests
from slipway.conformance.faults import faults, fits
from slipway.conformance.labels import LONGEST
from slipway.conformance.trial import Trial
from slipway.conformance.variations import Variation
from slipway.contract.field_plans import plan
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

_SPELLINGS = ("{}", "{}/")
"""How a place may be written: as a path, and with the slash that some people put behind a directory."""

_BESIDE = "{}-beside"
"""A place that only begins like another one."""


_ALWAYS = frozenset({"group", "mode", "owner"})
"""Fields that every item of a kind has."""

_LABEL = "Label-1_"
"""What labels are made of."""

_KEYS = ("path", "name", "device", "host", "argument")
"""The name of an item in its list."""


def pairs(trials: Sequence[Trial], info: provisionerpb.FormatInfo) -> Iterator[Variation]:
    """Give bundles with an item that says what two cases say: of each two fields of a kind of item, one."""
    holders: dict[tuple[str, str, str], Trial] = {}
    for trial in trials:
        for kind, item in _single_items(trial.case.bundle.os):
            for field in _optional_fields(item):
                # What is always said has its usual value almost everywhere.
                value = repr(getattr(item, field)) if field in _ALWAYS else ""
                holders.setdefault((kind, field, value), trial)
    for (first, other), (second, further) in combinations(holders.items(), 2):
        if first[0] == second[0] and other is not further:
            yield from _joined(other, further, second[:2], info)


def places(trials: Sequence[Trial]) -> Iterator[Variation]:
    """Give bundles with a file of root's in each place that a case makes, however that is written, and beside it."""
    for trial in trials:
        for kind, _ in _single_items(trial.case.bundle.os):
            for field, path in _places(_item(trial.request.bundle.os, kind)):
                spellings = [(spelling.format(path), path) for spelling in (_SPELLINGS if field else _SPELLINGS[:1])]
                for spelled, folder in [*spellings, (path, _BESIDE.format(path))]:
                    bundle = _copy(trial.request.bundle)
                    if field:
                        setattr(_item(bundle.os, kind), field, spelled)
                    file = bundle.os.files.add(path=f"{folder}/notice", owner="root", group="root", mode=0o644)
                    file.content.segments.add(data=b"read me\n")
                    if fits(bundle, trial.request.bundle, faults(trial.request.bundle)):
                        yield Variation(f"file below the {type(_item(bundle.os, kind)).__name__}", bundle)


def twins(trials: Sequence[Trial]) -> Iterator[Variation]:
    """Give bundles with an item and another one whose name differs in nothing but capital letters."""
    kinds: set[str] = set()
    for trial in trials:
        for kind, item in _single_items(trial.case.bundle.os):
            key = next((name for name in _KEYS if name in item.DESCRIPTOR.fields_by_name), "")
            if kind in kinds or not key or isinstance(getattr(trial.request.bundle.os, kind), Message):
                continue
            bundle = _copy(trial.request.bundle)
            entries = getattr(bundle.os, kind)
            entries.append(entries[-1])
            folder, slash, name = getattr(entries[-1], key).rpartition("/")
            setattr(entries[-1], key, f"{folder}{slash}{name.swapcase()}")
            if fits(bundle, trial.request.bundle, faults(trial.request.bundle)):
                kinds.add(kind)
                yield Variation(f"{type(item).__name__} of the same name in other letters", bundle)


def namesakes(trials: Sequence[Trial]) -> Iterator[Variation]:
    """Give bundles with a group of each user's name, and a user of each group's."""
    for trial in trials:
        system = trial.request.bundle.os
        users, groups = {user.name for user in system.users}, {group.name for group in system.groups}
        bundle = _copy(trial.request.bundle)
        for name in sorted(users - groups - {"root"}):
            bundle.os.groups.add(name=name)
        for name in sorted(groups - users):
            bundle.os.users.add(name=name)
        if len(users ^ groups) and fits(bundle, trial.request.bundle, faults(trial.request.bundle)):
            yield Variation("account with one of its name", bundle)


def clashes(trials: Sequence[Trial]) -> Iterator[Variation]:
    """Give bundles of which a unit has the name of the entry point's service: one of them is to blame."""
    for trial in trials:
        service = trial.request.bundle.plan.entrypoint.unit_name
        if trial.request.bundle.os.systemd_units and service:
            bundle = _copy(trial.request.bundle)
            bundle.os.systemd_units[-1].name = service
            if fits(bundle, trial.request.bundle, faults(trial.request.bundle)):
                yield Variation("unit of the entry point's name", bundle, trial.request.bundle)


def labels(trials: Sequence[Trial]) -> Iterator[Variation]:
    """Give bundles with a label as long as each kind of filesystem holds, and with a longer one, which is to blame."""
    for trial in trials:
        filesystems = trial.request.bundle.os.filesystems
        if len(filesystems) != 1 or not filesystems[0].label or trial.case.bundle.extensions:
            continue
        for kind, longest in LONGEST.items():
            for overwrite in (False, True):
                before = trial.request.bundle
                for length in (longest, longest + 1):
                    bundle = _copy(before)
                    item = bundle.os.filesystems[0]
                    item.format, item.label = kind, (_LABEL * length)[:length]
                    item.ClearField("overwrite")
                    if overwrite:
                        item.overwrite = True
                    yield Variation("Filesystem.label", bundle, before)
                    before = bundle
        return


def _places(item: Message) -> Iterator[tuple[str, str]]:
    """Give the paths below which an item lets a file lie, with the field that says each; "" where no field does."""
    if isinstance(item, ospb.Directory) or (isinstance(item, ospb.Mount) and item.path.startswith("/")):
        yield "path", item.path.rstrip("/")
    elif isinstance(item, ospb.User) and item.name != "root" and not item.no_create_home:
        yield ("home", item.home.rstrip("/")) if item.home else ("", f"/home/{item.name}")


def _joined(
    other: Trial, further: Trial, field: tuple[str, str], info: provisionerpb.FormatInfo
) -> Iterator[Variation]:
    """Give the bundle of a case with one more field in its item, of another case; with nothing where it is invalid."""
    kind, name = field
    bundle = _copy(other.request.bundle)
    item, source = _item(bundle.os, kind), _item(further.request.bundle.os, kind)
    if name not in _ALWAYS and name in {descriptor.name for descriptor, _ in item.ListFields()}:
        return
    _set(item, name, getattr(source, name))
    if (isinstance(item, ospb.File) and item.HasField("remote") and item.HasField("content")) or (
        isinstance(item, ospb.Link) and item.hard
    ):
        # A download has no content of the bundle's, and a hard link no owner of its own.
        return
    rest = _copy(further.case.bundle)
    rest.os.ClearField(kind)  # type: ignore[arg-type]  # the stubs want a literal
    requests.place(rest, info)
    bundle.MergeFrom(rest)
    for holder in (bundle.os.groups, bundle.os.users, bundle.secrets.secrets):
        _keep_distinct(holder)
    credentials.put_in_order(bundle)
    known = faults(other.request.bundle) | faults(further.request.bundle)
    if faults(bundle) <= known:
        yield Variation(f"{type(item).__name__} with `{name}`", bundle)


def _single_items(system: ospb.OperatingSystem) -> Iterator[tuple[str, Message]]:
    """Give the items of a case of which it has one of a kind: what it says of that kind, it says of this item."""
    for field, value in system.ListFields():
        if field.message_type is None:
            continue
        if not field.is_repeated:
            yield field.name, value
        elif len(value) == 1:
            yield field.name, value[0]


def _optional_fields(item: Message) -> Iterator[str]:
    plans = plan(item.DESCRIPTOR)
    for field, _ in item.ListFields():
        if not plans[field.number].rules.required:
            yield field.name


def _item(system: ospb.OperatingSystem, kind: str) -> Any:
    """Give the item that a case has put behind what every bundle of the suite has."""
    value = getattr(system, kind)
    return value if isinstance(value, Message) else value[-1]


def _set(item: Message, name: str, value: Any) -> None:
    if isinstance(value, Message):
        getattr(item, name).CopyFrom(value)
    elif isinstance(value, str | bytes | int | float):
        setattr(item, name, value)
    else:
        getattr(item, name).extend(value)


def _keep_distinct(entries: Any) -> None:
    """Take out entries of a name, or of a name and a key, that is there before them."""
    seen = set()
    for index in reversed(range(len(entries))):
        key = (entries[index].name, getattr(entries[index], "key", ""))
        if key in seen:
            del entries[index]
        seen.add(key)


def _copy(bundle: bundlepb.BootstrapBundle) -> bundlepb.BootstrapBundle:
    made = bundlepb.BootstrapBundle()
    made.CopyFrom(bundle)
    return made
