"""RND: what Render refuses, and what is no reason to refuse."""

import asyncio

from slipway.conformance import cases, requests
from slipway.conformance.check import Checks
from slipway.conformance.outcome import NotRun, all_hold, expect
from slipway.conformance.session import Session
from slipway.conformance.trial import feature_trials
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()
CANCELLED = 20
_PAUSES = (0.001, 0.01, 0.1)
"""Seconds after which callers give up: before, while, and when most are through."""


@CHECKS.check_format("RND-011")
async def attachments_not_accepted(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Who can place no attachments gets none that the machine needs."""
    for request in (await session.base(info), *await _founding(session, info)):
        await _without_place(session, request)


async def _founding(session: Session, info: provisionerpb.FormatInfo) -> list[provisionerpb.RenderRequest]:
    """Give the request of the machine that founds a cluster, where the format takes it: it may have more to give."""
    trials = await feature_trials(session, info)
    return [trial.request for trial in trials if trial.case.name == "first-control-plane" and trial.answer.ok]


async def _without_place(session: Session, asked: provisionerpb.RenderRequest) -> None:
    request = provisionerpb.RenderRequest()
    request.CopyFrom(asked)
    response = await session.subject.rendered(request)
    needed = sorted(attachment.name for attachment in response.attachments if not attachment.operator_only)
    request.accept_attachments = False
    for mere in (False, True):
        request.validate_only = mere
        asked_for = "a mere check" if mere else "it"
        got = await session.subject.render(request)
        if not needed:
            text = f"without `accept_attachments` {asked_for} ended with {got.described()}, and no machine needs any"
            expect(got.ok, text)
            continue
        right = (got.code, got.info.reason) == ("FAILED_PRECONDITION", "ATTACHMENTS_NOT_ACCEPTED")
        expect(right, f"without `accept_attachments` {asked_for} ended with {got.described()}")
        said = sorted(got.info.metadata.get("attachments", "").split(","))
        expect(said == needed, "the metadata key `attachments` does not name what is needed")


@CHECKS.check_format("RND-017")
async def missing_secret(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A reference to nothing is refused."""
    if info.kubernetes_input == requests.INTENT:
        request = await session.base(info)
        del request.bundle.secrets.secrets[:]
    else:
        of = requests.files(requests.file("missing", b""))
        segment = of.os.files[0].content.segments.add()
        segment.secret_ref.name, segment.secret_ref.key = "conformance", "missing"
        request = requests.merged(await session.base(info), of, info)
    got = await session.subject.render(request)
    allowed = {"BUNDLE_INVALID", "SECRET_MISSING", "CREDENTIALS_MISSING"}
    expect(got.info.reason in allowed, f"with a secret that is not there it ended with {got.described()}")
    expect(got.fields or got.info.metadata, "the refusal of a missing secret names neither a field nor a credential")


@CHECKS.check_format("EXE-001", form=requests.PLAN)
async def impossible_argument(session: Session, info: provisionerpb.FormatInfo) -> None:
    """An argument that would reach its program only in part is refused."""
    for case in cases.of_clause("EXE-001"):
        request = cases.request(case, await session.base(info), info)
        cases.judged(case, await session.subject.render(request))


@CHECKS.check_format("RND-020")
async def other_family(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A target that the format does not serve is refused."""
    families = (clusterpb.OS_FAMILY_LINUX, clusterpb.OS_FAMILY_WINDOWS)
    others = [family for family in families if family not in info.os_families]
    if not others:
        raise NotRun("the format serves every family")
    request = await session.base(info)
    request.target.Clear()
    request.target.os_family = others[0]
    got = await session.subject.render(request)
    right = (got.code, got.info.reason) == ("FAILED_PRECONDITION", "UNSUPPORTED_TARGET")
    expect(right, f"with a target of another family it ended with {got.described()}")


@CHECKS.check_format("RND-021")
async def no_family(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A target that is not resolved is refused."""
    for case in cases.of_clause("RND-021"):
        request = cases.request(case, await session.base(info), info)
        cases.judged(case, await session.subject.render(request))


@CHECKS.check_format("RND-022")
async def cancelled(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Callers that give up leave a server that works."""
    request = await session.base(info)
    for seconds in _PAUSES:
        calls = [asyncio.ensure_future(session.subject.render(request, seconds=10)) for _ in range(CANCELLED)]
        await asyncio.sleep(seconds)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await asyncio.gather(*(session.subject.give_up(request, seconds) for _ in range(CANCELLED)))
    for _ in range(3):
        await asyncio.sleep(_PAUSES[-1])
        got = await session.subject.render(request, seconds=session.options.patience.render)
        expect(got.ok, f"after many calls that were given up it ended with {got.described()}")


@CHECKS.check_format("RND-023")
async def no_feature_no_refusal(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Fields that use no feature are no reason to refuse."""
    problems = []
    for case in cases.of_clause("RND-023"):
        if requests.applies(case, info):
            request = cases.request(case, await session.base(info), info)
            problems += cases.judge(case, await session.subject.render(request))
    all_hold(problems)
