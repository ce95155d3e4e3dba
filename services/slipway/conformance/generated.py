"""Makes bundles by chance: some cases at once, in any order, their items set in relation to each other.

The chance is that of a seed, so each run has the same bundles; another seed gives others.
"""

from collections.abc import Sequence
from random import Random

from google.protobuf.message import Message

from slipway.conformance import requests
from slipway.conformance.bounds import outside
from slipway.conformance.changes import Change, changed
from slipway.conformance.faults import faults
from slipway.conformance.session import Session
from slipway.conformance.trial import Trial
from slipway.contract.field_plans import plan
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

_EACH = 5
"""How many cases are put into one bundle that have a kind of item in common, and how many of any kind."""

_OFTEN = 0.5
_FILES = ("note", "notes")
"""Files besides those of the cases, which are moved to wherever others make a place."""

_OF_ARGUMENTS = {"arguments": ["name"], "kubelet_arguments": ["name"]}
"""Lists in which an entry may be there twice, and only one of the two counts."""

_NAMES = ("path", "name", "device", "host", "argument")
"""The name of an item in its list."""


async def company(
    session: Session, info: provisionerpb.FormatInfo, trials: Sequence[Trial], chance: Random
) -> provisionerpb.RenderRequest:
    """Give a request that the format renders, of as many cases as go together of those that chance takes."""
    request = await session.base(info)
    if "os.files" in {support.id for support in info.features}:
        request = requests.merged(request, requests.files(*(requests.file(name, b"note\n") for name in _FILES)), info)
    if not trials:
        return request
    first = chance.choice(list(trials))
    akin = [trial for trial in trials if _kinds(trial) & _kinds(first)]
    cases = [first, *(trial for some in (akin, trials) for trial in chance.sample(list(some), min(len(some), _EACH)))]
    for bundle in (*(trial.case.bundle for trial in cases), None):
        wider = _joined(request, _doubles(request.bundle, chance) if bundle is None else bundle, info)
        if wider is not request and (await session.subject.render(wider)).ok:
            request = wider
    return request


def _kinds(trial: Trial) -> set[str]:
    """Give the kinds of items that a case has."""
    return {
        f"{part}.{field.name}"
        for part in ("os", "plan", "intent")
        for field, _ in getattr(trial.case.bundle, part).ListFields()
    }


def _joined(
    request: provisionerpb.RenderRequest, own: bundlepb.BootstrapBundle, info: provisionerpb.FormatInfo
) -> provisionerpb.RenderRequest:
    """Give a request with a bundle in it; without what it has already, and as it was where that breaks a rule."""
    system = request.bundle.os
    in_use = {user.name for user in system.users} | {group.name for group in system.groups}
    names = [(f"os.users[{index}].name", user.name) for index, user in enumerate(own.os.users)]
    names += [(f"os.groups[{index}].name", group.name) for index, group in enumerate(own.os.groups)]
    renamed = [Change(path, f"{name}{len(in_use)}") for path, name in names if name in in_use and name != "root"]
    wider = requests.merged(request, changed(own, renamed), info)
    _keep_distinct(wider.bundle)
    if faults(wider.bundle) <= faults(request.bundle) and not outside(wider.bundle, info):
        return wider
    return request


def _doubles(bundle: bundlepb.BootstrapBundle, chance: Random) -> bundlepb.BootstrapBundle:
    """Give some items of a bundle once more, each with a name of its own."""
    more = bundlepb.BootstrapBundle()
    for field, value in bundle.os.ListFields():
        if field.is_repeated and field.message_type is not None and chance.random() < _OFTEN:
            entry = getattr(more.os, field.name).add()
            entry.CopyFrom(chance.choice(list(value)))
            for name in _NAMES:
                # What is put behind a file may be put there twice.
                if name in entry.DESCRIPTOR.fields_by_name and not getattr(entry, "append", False):
                    setattr(entry, name, f"{getattr(entry, name)}2")
    return more


def _keep_distinct(message: Message) -> None:
    """Take out entries of lists whose names are there before them."""
    for known in plan(message.DESCRIPTOR).values():
        value = getattr(message, known.name)
        if known.message is None or (not known.repeated and not message.HasField(known.name)):
            continue
        keys = list(known.rules.unique_by) or _OF_ARGUMENTS.get(known.name, [])
        if known.repeated and keys:
            seen = set()
            for index in reversed(range(len(value))):
                key = tuple(getattr(value[index], name) for name in keys)
                if key in seen:
                    del value[index]
                seen.add(key)
        for entry in value if known.repeated else [value]:
            _keep_distinct(entry)


def seeds(seed: int, count: int) -> list[Random]:
    """Give so many chances of a seed, each of which is the same whatever the others are used for."""
    return [Random(f"{seed} {number}") for number in range(count)]  # noqa: S311  # no secret comes of it
