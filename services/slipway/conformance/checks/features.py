"""FEA: what a format declares it takes, and what it does not declare it refuses by name."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from slipway.conformance import cases, profiles, requests
from slipway.conformance.answer import Answer
from slipway.conformance.bounds import outside
from slipway.conformance.check import Checks
from slipway.conformance.contract_features import known_ids
from slipway.conformance.field_paths import names_item
from slipway.conformance.ledger import FAILED, UNVERIFIED
from slipway.conformance.outcome import NotRun, all_hold, expect
from slipway.conformance.session import Session
from slipway.conformance.trial import Trial, feature_trials
from slipway.contract.feature_uses import uses
from slipway.contract.features import compute_features
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()
FUTURE = ("os.unheard_of", "plan.unheard-of", "ext.conformance.example.com/unheard-of")
_AT_ONCE, MANY, FEW = 8, 24, 6
_NO_VALUE = 99
"""A number that no enum of the contract has."""


@CHECKS.check("FEA-001")
async def core_profile(session: Session) -> None:
    """Each format declares the core profile of its form."""
    expect(session.info.formats, "it declares no format, and so nothing")
    all_hold(
        [f"{info.format} does not declare {id_}" for info in session.info.formats for id_ in profiles.lacking(info)]
    )


@CHECKS.check_format("FEA-002")
async def smallest_bundle(session: Session, info: provisionerpb.FormatInfo) -> None:
    """The smallest bundle is rendered."""
    response = await session.subject.rendered(await session.base(info))
    expect(response.user_data, "Render gave no user data for the smallest bundle")


@CHECKS.check_format("FEA-003")
async def undeclared(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Every feature of the contract that is not declared is refused when the list holds it."""
    declared = {support.id for support in info.features}
    wanted = sorted(known_ids() - declared)
    problems = [f"{id_}: {text}" for id_, text in await _refusals(session, info, wanted)]
    all_hold(problems)


@CHECKS.check_format("FEA-003")
async def unheard_of(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Features that no contract has yet are refused, also where the list has no path of theirs."""
    all_hold(
        [f"{id_}: {text}" for paths in (["os"], []) for id_, text in await _refusals(session, info, FUTURE, paths)]
    )


@CHECKS.check_format("FEA-004")
async def names_all(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A refusal names all ids, sorted, and their paths."""
    request = await session.base(info)
    paths = [[f"os.unheard_of[{number}].{part}" for part in ("one", "other")] for number in range(len(FUTURE))]
    for id_, used in zip(reversed(FUTURE), paths, strict=True):
        request.bundle.required_features.add(id=id_, paths=used, count=len(used))
    got = await session.subject.render(request)
    named = got.info.metadata.get("features", "")
    expect(
        named == ",".join(sorted(FUTURE)),
        "the metadata key `features` is not the refused ids, sorted and joined by commas",
    )
    all_hold([f"BadRequest does not name {path}" for used in paths for path in used if path not in got.fields])


@CHECKS.check_format("FEA-004")
async def names_many(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Of more ids than anybody uses, all are named that fit, and a cut is told."""
    request = await session.base(info)
    wanted = requests.ask_for_strange(request, MANY)
    got = await session.subject.render(request)
    named = got.info.metadata.get("features", "").split(",")
    whole = named == wanted
    cut = len(named) > FEW and named[-1].endswith("...") and named[:-1] == wanted[: len(named) - 1]
    expect(
        whole or cut, f"of {MANY} refused ids the metadata key `features` names some, and does not say that it is cut"
    )


@CHECKS.check_format("FEA-005")
async def not_computed(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A bundle without the mark is refused."""
    for case in cases.of_clause("FEA-005"):
        request = cases.request(case, await session.base(info), info)
        cases.judged(case, await session.subject.render(request))


@CHECKS.check_format("FEA-006")
async def neighbours(session: Session, info: provisionerpb.FormatInfo) -> None:
    """What only begins like a declared id, or is the beginning of one, is refused."""
    declared = {support.id for support in info.features}
    wanted = [f"{id_}.unheard_of" for id_ in sorted(declared) if not id_.startswith("ext.")][:3]
    wanted += [id_.rpartition(".")[0] for id_ in sorted(declared) if "." in id_][:3]
    strange = [id_ for id_ in dict.fromkeys(wanted) if id_ not in declared]
    all_hold([f"{id_}: {text}" for id_, text in await _refusals(session, info, strange)])


@CHECKS.check_format("FEA-007")
async def outside_of_bounds(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A use outside of the declared bounds is refused by its path."""
    bounded = {
        support.id
        for support in info.features
        if support.path_prefixes
        or support.excluded_path_prefixes
        or support.allowed_values
        or support.HasField("max_items")
        or support.HasField("max_bytes")
    }
    if not bounded:
        raise NotRun("the format declares no bounds")
    problems: list[str] = []
    seen = False
    for request in [*_beyond(await session.base(info), info), *await _cases_beyond(session, info)]:
        beyond = outside(request.bundle, info)
        seen = True
        got = await session.subject.render(request)
        problems += _not_refused(got, {use.id for use in beyond}, [use.path for use in beyond])
    if not seen:
        raise NotRun("no case of the suite is outside of the bounds")
    all_hold(problems)


@CHECKS.check_format("FEA-008")
async def other_form(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A bundle with the other form of the Kubernetes part is refused."""
    other = provisionerpb.FormatInfo()
    other.CopyFrom(info)
    other.kubernetes_input = requests.PLAN if info.kubernetes_input == requests.INTENT else requests.INTENT
    del other.secrets[:]
    request = requests.smallest(other)
    beyond = {use.id for use in outside(request.bundle, info)}
    expect(beyond, "it declares the features of both forms")
    got = await session.subject.render(request)
    all_hold(_not_refused(got, beyond, []))


@CHECKS.check_format("FEA-009")
async def extended_features(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Every feature that is declared is rendered in some case; what is not, is refused by name and path."""
    problems: list[str] = []
    rendered: dict[str, int] = defaultdict(int)
    refused: dict[str, int] = defaultdict(int)
    for trial in await feature_trials(session, info):
        if trial.outside:
            problems += _improper(trial)
            continue
        ids = {use.id for use in uses(trial.request.bundle)} - profiles.FEATURES.get(profiles.name(info), frozenset())
        if trial.answer.ok:
            for id_ in ids:
                rendered[id_] += 1
                session.ledger.note(info.format, id_, UNVERIFIED, "rendered; the user data was not read")
        elif trial.answer.info.reason == "UNSUPPORTED_FEATURE":
            for id_ in ids:
                refused[id_] += 1
            problems += _no_item(trial)
        else:
            problems.append(f"{trial.case.name}: it ended with {trial.answer.described()}")
    for id_ in sorted(refused.keys() - rendered.keys()):
        session.ledger.note(info.format, id_, FAILED, "declared, and refused in every case that uses it")
        problems.append(f"{id_} is declared, and refused in every case that uses it")
    all_hold(problems)


@CHECKS.check_format("FEA-010")
async def unknown_enum_value(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A value of an enum that nobody knows is not guessed."""
    allowed = {("FAILED_PRECONDITION", "UNSUPPORTED_FEATURE"), ("INVALID_ARGUMENT", "BUNDLE_INVALID")}
    problems = []
    for what, made in _unknown_values(await session.base(info), info):
        got = await session.subject.render(made)
        if (got.code, got.info.reason) not in allowed:
            problems.append(f"with an unknown {what} it ended with {got.described()}")
    all_hold(problems)


def _unknown_values(
    base: provisionerpb.RenderRequest, info: provisionerpb.FormatInfo
) -> Iterator[tuple[str, provisionerpb.RenderRequest]]:
    """Give requests with a number in the place of a value, each with what it is in the place of."""
    if info.kubernetes_input == requests.INTENT:
        effect, role = provisionerpb.RenderRequest(), provisionerpb.RenderRequest()
        effect.CopyFrom(base)
        effect.bundle.intent.kubernetes.node.taints.items[0].effect = _NO_VALUE  # type: ignore[assignment]
        role.CopyFrom(base)
        role.bundle.intent.role = _NO_VALUE  # type: ignore[assignment]
        yield from (("effect of a taint", effect), ("role", role))
        return
    of = requests.files(requests.file("enum", b""), secrets=[requests.secret("conformance", "value", b"value")])
    segment = of.os.files[0].content.segments.add(encoding=_NO_VALUE)
    segment.secret_ref.name, segment.secret_ref.key = "conformance", "value"
    yield "encoding", requests.merged(base, of, info)
    execution = provisionerpb.RenderRequest()
    execution.CopyFrom(base)
    execution.bundle.plan.entrypoint.execution = _NO_VALUE  # type: ignore[assignment]
    yield "execution", execution


async def _refusals(
    session: Session, info: provisionerpb.FormatInfo, wanted: Iterable[str], paths: Sequence[str] = ("os",)
) -> list[tuple[str, str]]:
    """Ask for each feature by the list alone, and give those that were not refused as they must be."""
    base = await session.base(info)
    gate = asyncio.Semaphore(_AT_ONCE)

    async def ask(id_: str) -> tuple[str, str]:
        request = provisionerpb.RenderRequest()
        request.CopyFrom(base)
        request.bundle.required_features.append(diagnosticpb.FeatureUse(id=id_, paths=paths, count=1))
        async with gate:
            got = await session.subject.render(request)
        return id_, next(iter(_not_refused(got, {id_}, [])), "")

    return [found for found in await asyncio.gather(*map(ask, wanted)) if found[1]]


def _not_refused(got: Answer, ids: set[str], paths: list[str]) -> list[str]:
    """Give what is wrong with a refusal of features."""
    if (got.code, got.info.reason) != ("FAILED_PRECONDITION", "UNSUPPORTED_FEATURE"):
        return [f"it ended with {got.described()}, and FAILED_PRECONDITION/UNSUPPORTED_FEATURE is asked for"]
    named = set(got.info.metadata.get("features", "").split(","))
    missing = [f"the metadata key `features` does not name {id_}" for id_ in sorted(ids - named)]
    first = paths[:1]
    return missing + [f"BadRequest does not name {path}" for path in first if path not in got.fields]


def _improper(trial: Trial) -> list[str]:
    ids = {use.id for use in trial.outside}
    return [f"{trial.case.name}: {text}" for text in _not_refused(trial.answer, ids, [])]


def _no_item(trial: Trial) -> list[str]:
    fields = trial.answer.fields
    if not fields or not all("." in one and names_item(trial.request, one) for one in fields):
        return [f"{trial.case.name}: the refusal does not name an item by its path"]
    named = set(trial.answer.info.metadata.get("features", "").split(","))
    if not named & {use.id for use in uses(trial.request.bundle)}:
        return [f"{trial.case.name}: the metadata key `features` names no feature that is in use"]
    return []


def _beyond(base: provisionerpb.RenderRequest, info: provisionerpb.FormatInfo) -> list[provisionerpb.RenderRequest]:
    """Give requests with a file outside of the path prefixes, and with one below each that is excluded."""
    support = next((support for support in info.features if support.id == "os.files"), None)
    if support is None:
        return []
    paths = [f"{prefix.rstrip('/')}/beyond" for prefix in support.excluded_path_prefixes]
    if support.path_prefixes:
        paths.append("C:/beyond/here" if requests.is_windows(info) else "/beyond/here")
    result = []
    for path in paths:
        made = provisionerpb.RenderRequest()
        made.CopyFrom(base)
        made.bundle.MergeFrom(requests.files(requests.file("beyond", b"x")))
        made.bundle.os.files[-1].path = path
        compute_features(made.bundle)
        result += [made] if outside(made.bundle, info) else []
    return result


async def _cases_beyond(session: Session, info: provisionerpb.FormatInfo) -> list[provisionerpb.RenderRequest]:
    """Give the cases of features that are beyond bounds and use nothing that is undeclared."""
    return [
        trial.request
        for trial in await feature_trials(session, info)
        if trial.outside and all(use.declared for use in trial.outside)
    ]
