"""RND and EXE: what the user data says, read by a parser that the provisioner knows nothing of."""

from collections.abc import Iterable

from slipway.conformance import profiles, requests
from slipway.conformance.check import Checks
from slipway.conformance.compare import compare
from slipway.conformance.comparison import Comparison
from slipway.conformance.decoders import decoded
from slipway.conformance.field_paths import names_field
from slipway.conformance.ledger import FAILED, UNVERIFIED, VERIFIED
from slipway.conformance.outcome import Unverified, all_hold, expect
from slipway.conformance.session import Session
from slipway.conformance.surplus import surplus
from slipway.conformance.trial import Trial, feature_trials
from slipway.contract.feature_uses import uses
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()


@CHECKS.check_format("RND-018")
async def core_items(session: Session, info: provisionerpb.FormatInfo) -> None:
    """What the core profile asks for is in the user data."""
    core = profiles.FEATURES.get(profiles.name(info), frozenset())
    request = await session.base(info)
    found = await compared(session, info, request)
    _note(session, info, found, core)
    all_hold([*found.problems, *found.surplus])
    problems = []
    for trial in await feature_trials(session, info):
        if trial.answer.ok and {use.id for use in uses(trial.request.bundle)} <= core:
            tried = await _tried(session, info, trial)
            problems += [f"{trial.case.name}: {text}" for text in (*tried.problems, *tried.surplus)]
    all_hold(problems)
    missing = sorted(found.unverified & core)
    if missing:
        raise Unverified(f"the decoder does not see {', '.join(missing)}")


@CHECKS.check_format("RND-019")
async def extended_items(session: Session, info: provisionerpb.FormatInfo) -> None:
    """What every other declared feature asks for is in the user data."""
    core = profiles.FEATURES.get(profiles.name(info), frozenset())
    problems: list[str] = []
    unseen: set[str] = set()
    seen: set[str] = set()
    for trial in await feature_trials(session, info):
        asked = {use.id for use in uses(trial.request.bundle)} - core
        if not trial.answer.ok or trial.outside or not asked:
            continue
        found = await _tried(session, info, trial)
        problems += [f"{trial.case.name}: {text}" for text in (*found.problems, *found.surplus)]
        _note(session, info, found, asked)
        unseen |= (asked - found.verified) | found.unverified
        seen |= found.verified
    all_hold(problems)
    if unseen - seen - core:
        raise Unverified(f"the decoder does not see {', '.join(sorted(unseen - seen - core))}")


@CHECKS.check_format("EXE-001", form=requests.PLAN)
async def entry_point(session: Session, info: provisionerpb.FormatInfo) -> None:
    """The program is started with exactly its arguments, and without one nothing is."""
    await _nothing_started(session, info)
    request = await session.base(info)
    del request.bundle.plan.entrypoint.argv[1:]
    request.bundle.plan.entrypoint.argv.extend(
        [
            "plain",
            "two words",
            "three  blanks  in   it",
            "",
            "it's",
            'say "hi"',
            '"key": "value", ',
            "$HOME ${HOME} $$",
            "%h %%",
            "back\\slash\\",
            "`id` $(id)",
            "a;b&c|d",
            "*",
            "ü ∂",
            "-",
            "#no comment",
            " blanks around ",
            "long " * 800,
            "plain",  # It is there twice.
            ";",  # These end a command, or mean something else, where they are not quoted.
            "&&",
            "|",
            "{}",
            "~",
            "!",
            "@file",
            "--",
            "a=b",
        ]
    )
    found = await compared(session, info, request)
    all_hold([text for text in found.problems if text.startswith("plan.")])
    if "plan.entrypoint" in found.unverified:
        raise Unverified("the decoder does not see plan.entrypoint")


@CHECKS.check_format("EXE-001", form=requests.PLAN)
async def lines_in_arguments(session: Session, info: provisionerpb.FormatInfo) -> None:
    """An argument with a line break arrives as it is, or is refused; it never becomes two lines of something else."""
    request = await session.base(info)
    request.bundle.plan.entrypoint.argv.append("one\nExecStart=/bin/true\r\ntwo")
    got = await session.subject.render(request)
    if got.code in ("INVALID_ARGUMENT", "FAILED_PRECONDITION"):
        return
    found = await compared(session, info, request)
    all_hold([*[text for text in found.problems if text.startswith("plan.")], *found.surplus])
    if "plan.entrypoint" in found.unverified:
        raise Unverified("the decoder does not see plan.entrypoint")


async def _nothing_started(session: Session, info: provisionerpb.FormatInfo) -> None:
    """See that a bundle without an entry point starts nothing. It uses no feature, so there is nothing to refuse.

    Raises:
        Broken: something is started.
        Unverified: nobody can read the user data.
    """
    request = await session.base(info)
    request.bundle.plan.ClearField("entrypoint")
    request = requests.merged(request, bundlepb.BootstrapBundle(), info)
    got = await session.subject.render(request)
    expect(got.ok, f"without an entry point it ended with {got.described()}")
    state = await decoded(session.options, info, got.response)
    started = sum(bool(program.argv) for program in state.programs)
    expect(not started, f"without an entry point the user data starts {started} programs")


async def compared(
    session: Session, info: provisionerpb.FormatInfo, request: provisionerpb.RenderRequest
) -> Comparison:
    """Render a request and compare its user data with its bundle."""
    return await read(session, info, request, await session.subject.rendered(request))


async def _tried(session: Session, info: provisionerpb.FormatInfo, trial: Trial) -> Comparison:
    """Compare what a case gave with its bundle."""
    return await read(session, info, trial.request, trial.answer.response)


async def read(
    session: Session,
    info: provisionerpb.FormatInfo,
    request: provisionerpb.RenderRequest,
    response: provisionerpb.RenderResponse,
) -> Comparison:
    """Compare what a request gave with its bundle."""
    state = await decoded(session.options, info, response)
    windows = requests.is_windows(info)
    found = compare(request.bundle, state, windows=windows)
    found.surplus = surplus(request.bundle, state, windows=windows)
    if any(not names_field(request.bundle, remark.field_path) for remark in response.diagnostics if remark.field_path):
        found.problems.append("`field_path` of a diagnostic leads to no field of the bundle")
    if state.architecture not in ("", request.target.architecture):
        found.problems.append("the user data is for another architecture than the target's")
    return found


def _note(session: Session, info: provisionerpb.FormatInfo, found: Comparison, asked: Iterable[str]) -> None:
    for id_ in asked:
        if id_ in found.failed:
            session.ledger.note(info.format, id_, FAILED, "not found in the user data as the bundle says it")
        elif id_ in found.verified:
            session.ledger.note(info.format, id_, VERIFIED)
        else:
            session.ledger.note(info.format, id_, UNVERIFIED, "rendered; the decoder does not see it")
