"""RND-019: every field at the edges of its rules, many fields of a request at once."""

import asyncio
from collections.abc import Iterable, Sequence

from slipway.conformance.bounds import outside
from slipway.conformance.changes import Change, changed
from slipway.conformance.check import Checks
from slipway.conformance.checks.meaning import read
from slipway.conformance.checks.variety import rendered, share
from slipway.conformance.displacement import Displacement
from slipway.conformance.outcome import all_hold
from slipway.conformance.refusal import REFUSALS, blamed, wrong
from slipway.conformance.richest import richest
from slipway.conformance.rounds import list_rounds, named, unset_rounds, value_rounds
from slipway.conformance.session import Session
from slipway.contract.features import compute_features
from slipway.contract.validation import violations
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()
_AT_ONCE = 4


@CHECKS.check_format("RND-019")
async def values_at_the_edges(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Every sign that a field's rules allow stands in each of its places; numbers are the least and the most."""
    tried: set[str] = set()
    rich = await richest(session, info, await rendered(session, info))
    rounds = [(request, changes) for request in rich for changes in value_rounds(request.bundle, tried)]
    all_hold(await _hold_all(session, info, rounds))


@CHECKS.check_format("RND-019")
async def lists_of_any_length(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Every list of texts has one entry, two, three in another order, and many."""
    tried: set[str] = set()
    rich = await richest(session, info, await rendered(session, info))
    rounds = [(request, changes) for request in rich for changes in list_rounds(request.bundle, tried)]
    all_hold(await _hold_all(session, info, rounds))


@CHECKS.check_format("RND-019")
async def all_but_one(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Every item lacks one of its fields, and has all others."""
    rich = await richest(session, info, await rendered(session, info))
    rounds = [(request, changes) for request in rich for changes in unset_rounds(request.bundle)]
    all_hold(await _hold_all(session, info, rounds))


async def _hold_all(
    session: Session,
    info: provisionerpb.FormatInfo,
    rounds: list[tuple[provisionerpb.RenderRequest, list[Change]]],
) -> list[str]:
    """Try rounds of changes and give what is wrong, each once."""
    gate = asyncio.Semaphore(_AT_ONCE)
    displacement = Displacement(session.subject, await rendered(session, info))

    async def hold(request: provisionerpb.RenderRequest, changes: list[Change]) -> list[str]:
        async with gate:
            return await _hold(session, info, request, changes, displacement)

    every = await asyncio.gather(*(hold(request, changes) for request, changes in share(session, info, rounds)))
    return list(dict.fromkeys(problem for problems in every for problem in problems))


async def _hold(
    session: Session,
    info: provisionerpb.FormatInfo,
    request: provisionerpb.RenderRequest,
    changes: Sequence[Change],
    displacement: Displacement,
) -> list[str]:
    """Render a request with changes and compare; what is refused by name is left out, and all others tried again."""
    problems: list[str] = []
    while changes:
        made = provisionerpb.RenderRequest()
        made.CopyFrom(request)
        made.bundle.CopyFrom(changed(request.bundle, changes))
        del made.bundle.required_features[:]
        compute_features(made.bundle)
        unfit = _unfit(made.bundle, request.bundle, info)
        if unfit:
            changes = _without(changes, unfit)
            continue
        got = await session.subject.render(made)
        if got.ok:
            comparison = await read(session, info, made, got.response)
            return problems + _described(changes, [*comparison.problems, *comparison.surplus])
        if got.code in REFUSALS:
            to_blame = blamed([change.path for change in changes], made.bundle, got)
            if to_blame:
                rest = [change for change in changes if change.path not in to_blame]
                text = wrong(made, request.bundle, got)
                text = text or await displacement.problem(made, got, " ".join(sorted(map(named, to_blame))))
                problems += [f"{text} (of {len(to_blame)})"] if text else []
                changes = rest
                continue
        if len(changes) == 1:
            text = wrong(made, request.bundle, got) if got.code in REFUSALS else f"it ended with {got.described()}"
            return problems + ([f"with another {changes[0].path} {text}"] if text else [])
        half = len(changes) // 2
        for part in (changes[:half], changes[half:]):
            problems += await _hold(session, info, request, part, displacement)
        return problems
    return problems


def _unfit(
    bundle: bundlepb.BootstrapBundle, before: bundlepb.BootstrapBundle, info: provisionerpb.FormatInfo
) -> set[str]:
    """Give the paths at which a bundle breaks rules that it did not break before, or leaves what the format takes."""
    faults = {fault.path for fault in violations(bundle)} - {fault.path for fault in violations(before)}
    return faults | {use.path for use in outside(bundle, info)}


def _without(changes: Sequence[Change], paths: Iterable[str]) -> list[Change]:
    """Take out the changes at some paths, or below or above them; the last one where there is none."""
    near = [
        change
        for change in changes
        if any(f"{change.path}.".startswith(f"{path}.") or path.startswith(change.path) for path in paths)
        or any(f"{change.path}.".startswith(f"{path.rpartition('.')[0]}.") for path in paths)
    ]
    gone = near or [changes[-1]]
    return [change for change in changes if change not in gone]


def _described(changes: Sequence[Change], problems: Sequence[str]) -> list[str]:
    where = f"with another {changes[0].path} " if len(changes) == 1 else "with other values "
    return [f"{where}{problem}" for problem in problems]
