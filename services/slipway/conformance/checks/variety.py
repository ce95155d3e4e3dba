"""RND-019: what the cases say, varied: other values, more and fewer entries, each item alone, and all together."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import TypeVar

from slipway.conformance import requests
from slipway.conformance.answer import Answer
from slipway.conformance.bounds import outside
from slipway.conformance.check import Checks
from slipway.conformance.checks.meaning import read
from slipway.conformance.compare import compare
from slipway.conformance.comparison import SYSTEMS_OWN
from slipway.conformance.decoders import decoded
from slipway.conformance.displacement import Displacement
from slipway.conformance.likenesses import likenesses
from slipway.conformance.outcome import all_hold
from slipway.conformance.pairs import clashes, labels, namesakes, pairs, places, twins
from slipway.conformance.refusal import REFUSALS, wrong
from slipway.conformance.session import Session
from slipway.conformance.trial import Trial, feature_trials
from slipway.conformance.variations import Variation, lists, parts, values, words
from slipway.contract.features import compute_features
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()
Work = TypeVar("Work")
_AT_ONCE = 4
_DEFAULTS = frozenset({
    "Cluster.control_plane", "Cluster.service_domain", "Command.interpreter", "Directory.mode",
    "Endpoint.port", "EntryPoint.execution", "EntryPoint.unit_name", "File.mode", "Images.repository",
    "NodeRegistration.cri_socket", "NodeRegistration.image_pull_policy", "OperatingSystem.default_user",
})  # fmt: skip
"""Fields of which a case says what is the case without a word, too, or that only name something."""


@CHECKS.check_format("RND-019")
async def other_values(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Each field has what its rules allow: quotes, words that look like another type, long texts, nothing.

    It has so in the case that says least, and in the one that says most beside it.
    """
    trials = await rendered(session, info)
    least, most = set[str](), set[str]()
    made = [values(trial.request.bundle, least) for trial in trials]
    made += [values(trial.request.bundle, most) for trial in reversed(trials)]
    special = set[str]()
    made += [words(trial.request.bundle, special) for trial in trials]
    in_parts = set[str]()
    made += [parts(trial.request.bundle, in_parts) for trial in trials]
    made += [labels(trials)]
    all_hold(await _tried(session, info, made))


@CHECKS.check_format("RND-019")
async def other_lists(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Each list has three entries, of which one says less than the others, and one more that has a text of another."""
    tried, alike = set[str](), set[str]()
    rich = list(reversed(await rendered(session, info)))
    made = [lists(trial.request.bundle, tried) for trial in rich]
    made += [likenesses(trial.request.bundle, alike) for trial in rich]
    all_hold(await _tried(session, info, made))


@CHECKS.check_format("RND-019")
async def alone(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Each item is there when there is nothing else, not even a file."""
    all_hold(await _tried(session, info, (_alone(trial) for trial in await rendered(session, info))))


@CHECKS.check_format("RND-019")
async def two_at_once(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Each item says two things of which the cases say one each."""
    all_hold(await _tried(session, info, [pairs(await rendered(session, info), info)]))


@CHECKS.check_format("RND-019", features=("os.files",))
async def files_in_places(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A file lies in each place that an item makes, however its path is written."""
    all_hold(await _tried(session, info, [places(await rendered(session, info))], shared=False))


@CHECKS.check_format("RND-019")
async def names_in_other_letters(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Two items whose names differ in nothing but capital letters, or are equal, are two, or are refused."""
    trials = await rendered(session, info)
    all_hold(await _tried(session, info, [twins(trials), namesakes(trials), clashes(trials)]))


@CHECKS.check_format("RND-019")
async def together(session: Session, info: provisionerpb.FormatInfo) -> None:
    """One item of each kind is there when all others are."""
    request = await session.base(info)
    kinds: set[str] = set()
    for trial in await rendered(session, info):
        kind = {field.name for field, _ in trial.case.bundle.os.ListFields()}
        if not kind or kind & kinds:
            continue
        wider = requests.merged(request, trial.case.bundle, info)
        if (await session.subject.render(wider)).ok:
            request, kinds = wider, kinds | kind
    comparison = await read(session, info, request, await session.subject.rendered(request))
    all_hold([*comparison.problems, *comparison.surplus])


def share(session: Session, info: provisionerpb.FormatInfo, work: list[Work]) -> list[Work]:
    """Give what is to be tried of a format: those of one provisioner have most in common.

    The first one gets all, each other one its share.
    """
    number = next(number for number, other in enumerate(session.info.formats) if other.format == info.format)
    return work[number :: len(session.info.formats)] if number else work


async def _stays(session: Session, info: provisionerpb.FormatInfo, variation: Variation, got: Answer) -> bool:
    """Whether user data still have what is unset; not where it is what the contract gives a field that is unset."""
    if variation.before is None or variation.field in _DEFAULTS | {".".join(field) for field in SYSTEMS_OWN}:
        return False
    state = await decoded(session.options, info, got.response)
    return not compare(variation.before, state, windows=requests.is_windows(info)).problems


async def rendered(session: Session, info: provisionerpb.FormatInfo) -> list[Trial]:
    """Give the cases that the format renders, those with little in them first."""
    comparison = [trial for trial in await feature_trials(session, info) if trial.answer.ok and not trial.outside]
    return sorted(comparison, key=lambda trial: trial.request.ByteSize())


def _alone(trial: Trial) -> Iterator[Variation]:
    other = bundlepb.BootstrapBundle()
    other.CopyFrom(trial.request.bundle)
    if not other.HasField("plan"):
        return
    del other.os.files[: len(other.os.files) - len(trial.case.bundle.os.files)]
    yield Variation(trial.case.name, other)


async def _tried(
    session: Session, info: provisionerpb.FormatInfo, made: Iterable[Iterator[Variation]], *, shared: bool = True
) -> list[str]:
    """Render variations of cases and give what is wrong with them, each field once.

    Of several formats each gets its share, unless they are not `shared`.
    """
    base = await session.base(info)
    displacement = Displacement(session.subject, await rendered(session, info))
    gate = asyncio.Semaphore(_AT_ONCE)

    async def check(variation: Variation) -> str:
        request = provisionerpb.RenderRequest()
        request.CopyFrom(base)
        request.bundle.CopyFrom(variation.bundle)
        del request.bundle.required_features[:]
        compute_features(request.bundle)
        if outside(request.bundle, info):
            return ""
        async with gate:
            got = await session.subject.render(request)
            if got.code in REFUSALS:
                problem = "" if variation.before is None else wrong(request, variation.before, got)
                problem = problem or await displacement.problem(request, got, variation.field)
                return f"with another {variation.field} {problem}" if problem else ""
            if not got.ok:
                return f"with another {variation.field} it ended with {got.described()}"
            comparison = await read(session, info, request, got.response)
            problem = next(iter([*comparison.problems, *comparison.surplus]), "")
            if variation.unset and not problem and await _stays(session, info, variation, got):
                problem = "is unset, and the user data have it as before"
        return f"with another {variation.field} {problem}" if problem else ""

    distinct = {
        variation.bundle.SerializeToString(deterministic=True): variation
        for variations in made
        for variation in variations
    }
    every = list(distinct.values())
    every = share(session, info, every) if shared else every
    return list(dict.fromkeys(filter(None, await asyncio.gather(*map(check, every)))))
