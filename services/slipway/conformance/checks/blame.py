"""ERR, FEA and RND: of every field that can be wrong, that it is this one which is to blame."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from google.protobuf.descriptor import FieldDescriptor

from slipway.conformance.alphabet import is_allowed, rules_of
from slipway.conformance.answer import Answer
from slipway.conformance.changes import Change, changed, scalars
from slipway.conformance.check import Checks
from slipway.conformance.checks.variety import rendered, share
from slipway.conformance.displacement import Displacement
from slipway.conformance.outcome import all_hold
from slipway.conformance.refusal import REFUSALS, wrong
from slipway.conformance.richest import richest
from slipway.conformance.rounds import named
from slipway.conformance.session import Session
from slipway.conformance.trial import feature_trials
from slipway.contract.features import compute_features
from slipway.contract.items import within
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb

CHECKS = Checks()
_AT_ONCE = 4
_NO_VALUE = 99
_PARTS = ("os", "commands", "plan", "intent")
_NO_ORIGIN = ("slipway.v1alpha1.Origin",)
_MISSING = {"BUNDLE_INVALID", "SECRET_MISSING", "CREDENTIALS_MISSING"}
_NO_ANSWERS = {"UNKNOWN", "UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"}
_UNKNOWN = {("FAILED_PRECONDITION", "UNSUPPORTED_FEATURE"), ("INVALID_ARGUMENT", "BUNDLE_INVALID")}

_Judge = Callable[[provisionerpb.RenderRequest, bundlepb.BootstrapBundle, Change, Answer], str]
_Choice = Callable[[bundlepb.BootstrapBundle], Iterator[Change]]


@CHECKS.check_format("FEA-010")
async def unknown_value_of_every_enum(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Wherever an enum stands, an unknown value is refused, at its item."""
    all_hold(await _each(session, info, _unknown_values, _refused_as_unknown))


@CHECKS.check_format("RND-017")
async def every_reference(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Wherever a secret is asked for, one that is not there is refused, at the reference."""
    problems = await _each(session, info, _dangling, _refused_as_missing)
    for trial in await rendered(session, info):
        if trial.case.bundle.extensions:
            problems += await _behind_an_extension(session, trial.request)
    all_hold(list(dict.fromkeys(problems)))


@CHECKS.check_format("ERR-006")
async def every_field_malformed(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Whatever a field breaks its rules by gets an answer; a refusal names its item."""
    all_hold(await _each(session, info, _malformed, _answered))


@CHECKS.check_format("FEA-009")
async def behind_another(session: Session, info: provisionerpb.FormatInfo) -> None:
    """What is refused at its place in a list is refused at the next one behind an item that is taken."""
    displacement = Displacement(session.subject, await rendered(session, info))
    refused = [trial for trial in await feature_trials(session, info) if not trial.answer.ok and not trial.outside]
    problems = [
        (trial.case.name, await displacement.problem(trial.request, trial.answer, trial.case.name)) for trial in refused
    ]
    all_hold([f"{name}: {text}" for name, text in problems if text])


async def _behind_an_extension(session: Session, request: provisionerpb.RenderRequest) -> list[str]:
    """Give what is wrong where a further extension, behind those of a request, refers to a secret that is not there."""
    made = provisionerpb.RenderRequest()
    made.CopyFrom(request)
    path = f"extensions[{len(request.bundle.extensions)}]"
    extension = made.bundle.extensions.add()
    extension.CopyFrom(request.bundle.extensions[-1])
    extension.content.Clear()
    reference = extension.content.segments.add().secret_ref
    reference.name, reference.key = "conformance", "conformance-is-not-there"
    del made.bundle.required_features[:]
    compute_features(made.bundle)
    change = Change(f"{path}.content.segments[0].secret_ref.key", reference.key)
    text = _refused_as_missing(made, request.bundle, change, await session.subject.render(made))
    return [f"ext.{extension.id}: {text}"] if text else []


async def _each(session: Session, info: provisionerpb.FormatInfo, choose: _Choice, judge: _Judge) -> list[str]:
    """Make each change by itself, each field once, and judge the answers."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def check(request: provisionerpb.RenderRequest, change: Change) -> str:
        made = provisionerpb.RenderRequest()
        made.CopyFrom(request)
        made.bundle.CopyFrom(changed(request.bundle, [change]))
        async with gate:
            text = judge(made, request.bundle, change, await session.subject.render(made))
        return f"{named(change.path)}: {text}" if text else ""

    tried: set[tuple[str, str]] = set()
    work = []
    for request in await richest(session, info, await rendered(session, info)):
        # The last entry of a list stands for all: who counts wrongly is wrong there, too.
        for change in reversed(list(choose(request.bundle))):
            key = (named(change.path), repr(change.value))
            if change.path.partition(".")[0] in _PARTS and key not in tried:
                tried.add(key)
                work.append((request, change))
    return list(
        dict.fromkeys(filter(None, await asyncio.gather(*(check(*pair) for pair in share(session, info, work)))))
    )


def _unknown_values(bundle: bundlepb.BootstrapBundle) -> Iterator[Change]:
    for path, _, field in scalars(bundle, _NO_ORIGIN):
        if field.enum_type is not None:
            yield Change(path, _NO_VALUE)


def _dangling(bundle: bundlepb.BootstrapBundle) -> Iterator[Change]:
    # Credentials that a role does not need stay where they are: RND-017 tries them together.
    for path, message, field in scalars(bundle, (*_NO_ORIGIN, "slipway.v1alpha1.ClusterCredentials")):
        if isinstance(message, secretpb.SecretReference) and field.name in {"name", "key"}:
            yield Change(path, "conformance-is-not-there")


def _malformed(bundle: bundlepb.BootstrapBundle) -> Iterator[Change]:
    for path, message, field in scalars(bundle, _NO_ORIGIN):
        value = getattr(message, field.name)
        for other in _faults(field, value[0] if field.is_repeated else value):
            yield Change(path, other)


def _faults(field: FieldDescriptor, value: object) -> Sequence[object]:
    """Give values that break the rules of a field: nothing, something strange, and too much of it."""
    rules = rules_of(field)
    if isinstance(value, str):
        others = ("", f"{value}\n", f"{value} {value}", "\x00", value + "x" * 5000)
        return [other for other in others if not is_allowed(rules, other)]
    if isinstance(value, bool) or not isinstance(value, int) or field.enum_type is not None:
        return []
    most = [rules.maximum + 1] if rules.HasField("maximum") else []
    return [*most, *([rules.minimum - 1] if rules.HasField("minimum") and rules.minimum > 0 else [])]


def _refused_as_unknown(
    request: provisionerpb.RenderRequest, before: bundlepb.BootstrapBundle, _: Change, got: Answer
) -> str:
    if (got.code, got.info.reason) not in _UNKNOWN:
        return f"with an unknown value it ended with {got.described()}"
    return wrong(request, before, got)


def _refused_as_missing(
    request: provisionerpb.RenderRequest, before: bundlepb.BootstrapBundle, change: Change, got: Answer
) -> str:
    if got.info.reason not in _MISSING:
        return f"with a secret that is not there it ended with {got.described()}"
    if got.info.reason == "CREDENTIALS_MISSING":
        return ""
    reference = change.path.rpartition(".")[0]
    if not any(within(path.removeprefix("bundle."), reference) for path in got.fields):
        return "the refusal does not name the reference by its path"
    return wrong(request, before, got)


def _answered(request: provisionerpb.RenderRequest, before: bundlepb.BootstrapBundle, _: Change, got: Answer) -> str:
    if got.code in _NO_ANSWERS:
        return f"where it breaks its rules it ended with {got.code}"
    return wrong(request, before, got) if got.code in REFUSALS else ""
