"""RND-019: bundles that are made by chance, of many cases at once whose items have to do with each other."""

import asyncio
from random import Random

from slipway.conformance.bounds import outside
from slipway.conformance.changes import Change, changed
from slipway.conformance.check import Checks
from slipway.conformance.checks.meaning import read
from slipway.conformance.checks.variety import rendered
from slipway.conformance.field_paths import names_item
from slipway.conformance.generated import company, seeds
from slipway.conformance.outcome import all_hold
from slipway.conformance.refusal import REFUSALS, blamed
from slipway.conformance.relations import relations
from slipway.conformance.session import Session
from slipway.conformance.trial import Trial, free
from slipway.contract.features import compute_features
from slipway.contract.validation import violations
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()
SEED, BUNDLES, TIMES = 17, 40, 4
"""The chance, how many bundles it makes for a format, and how often the items of each are set in relation."""

_AT_ONCE = 4


@CHECKS.check_format("RND-019")
async def in_relation(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Many items are there at once that have to do with each other: equal values, beginnings, folders, owners."""
    trials = free(await rendered(session, info))
    gate = asyncio.Semaphore(_AT_ONCE)

    async def tried(chance: Random) -> list[str]:
        async with gate:
            return await _tried(session, info, trials, chance)

    problems = await asyncio.gather(*map(tried, seeds(SEED, BUNDLES)))
    all_hold(list(dict.fromkeys(text for texts in problems for text in texts)))


async def _tried(session: Session, info: provisionerpb.FormatInfo, trials: list[Trial], chance: Random) -> list[str]:
    request = await company(session, info, trials, chance)
    problems = await _hold(session, info, request, [])
    for _ in range(TIMES):
        problems += await _hold(session, info, request, relations(request.bundle, chance))
    return problems


async def _hold(
    session: Session, info: provisionerpb.FormatInfo, request: provisionerpb.RenderRequest, changes: list[Change]
) -> list[str]:
    """Render a request with changes and compare; what a refusal names is left out, and the others are tried again."""
    known = {fault.path for fault in violations(request.bundle)}
    while True:
        made = provisionerpb.RenderRequest()
        made.CopyFrom(request)
        made.bundle.CopyFrom(changed(request.bundle, changes))
        del made.bundle.required_features[:]
        compute_features(made.bundle)
        unfit = {fault.path for fault in violations(made.bundle)} - known
        unfit |= {use.path for use in outside(made.bundle, info)}
        if unfit and changes:
            changes = _without(changes, unfit)
            continue
        got = await session.subject.render(made)
        if got.ok:
            comparison = await read(session, info, made, got.response)
            return [f"among others {problem}" for problem in (*comparison.problems, *comparison.surplus)]
        if got.code not in REFUSALS:
            return [f"with items in relation it ended with {got.described()}"]
        if not got.fields or not all(names_item(made, path) for path in got.fields):
            return ["the refusal of an item does not name it by its path"]
        if not changes:
            return []
        changes = _without(changes, blamed([change.path for change in changes], made.bundle, got))


def _without(changes: list[Change], paths: set[str]) -> list[Change]:
    """Take out the changes at some paths, and of their items; half of all where there is none."""
    items = {_item(path) for path in paths}
    rest = [change for change in changes if _item(change.path) not in items]
    return rest if len(rest) < len(changes) else changes[: len(changes) // 2]


def _item(path: str) -> str:
    """Give the path of the entry of a list that a path leads into; all of it where there is none."""
    head, bracket, _ = path.partition("]")
    return f"{head}{bracket}"
