"""One try of a case on a format: what was asked, what came, and what of it the format must refuse."""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from slipway.conformance import cases, requests
from slipway.conformance.answer import Answer
from slipway.conformance.bounds import Outside, outside
from slipway.conformance.engine_cases import engine_cases
from slipway.conformance.session import Session
from slipway.conformance.v1alpha1 import case_pb2 as casepb
from slipway.contract.feature_uses import uses
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

_AT_ONCE = 4
"""Cases that are tried together: while one is rendered, others are made and read."""

_LINES = 15_000


@dataclass(frozen=True, slots=True)
class Trial:
    """A case on a format.

    Attributes:
        case: the case.
        request: what was sent.
        answer: what came.
        outside: uses that the format must refuse; empty when it must render.
    """

    case: casepb.Case
    request: provisionerpb.RenderRequest = field(repr=False)
    answer: Answer
    outside: tuple[Outside, ...]


def free(trials: Iterable[Trial]) -> list[Trial]:
    """Give the trials whose items change by themselves: none of those with a document that refers to items."""
    return [trial for trial in trials if not (trial.case.bundle.extensions and trial.case.bundle.HasField("os"))]


async def tried(session: Session, info: provisionerpb.FormatInfo, case: casepb.Case) -> Trial:
    """Try a case on a format; the same one only once in a run."""
    key = (info.format, case.clause, case.name)
    if key not in session.trials:
        request = cases.request(case, await session.base(info), info)
        _place(request, info)
        since = time.monotonic()
        answer = await session.subject.render(request)
        trial = Trial(case, request, answer, tuple(outside(request.bundle, info)))
        if not answer.ok and session.heartbeat.unjudged(since):
            # Another check would hold it against the provisioner, without knowing that the machine was too slow.
            return trial
        session.trials[key] = trial
    known: Trial = session.trials[key]
    return known


def _place(request: provisionerpb.RenderRequest, info: provisionerpb.FormatInfo) -> None:
    """Put a machine whose intent asks for facts of it where there are some, when no other place is said."""
    asks = any(".facts" in use.id for use in uses(request.bundle))
    if asks and info.kubernetes_input == requests.INTENT and not outside(request.bundle, info):
        request.target.infrastructure = request.target.infrastructure or "aws"


async def feature_trials(session: Session, info: provisionerpb.FormatInfo) -> list[Trial]:
    """Try all cases of features that are for a format."""
    found = [*cases.cases("features"), *cases.cases("control_plane"), *engine_cases(info)]
    found += [*cases.cases("extensions"), *cases.of_extensions(session.options.extensions)]
    gate = asyncio.Semaphore(_AT_ONCE)
    await session.base(info)

    async def one(case: casepb.Case) -> Trial:
        async with gate:
            return await tried(session, info, case)

    return await asyncio.gather(*(one(case) for case in found if requests.applies(case, info)))


async def large(session: Session, info: provisionerpb.FormatInfo) -> provisionerpb.RenderRequest:
    """Give a request with much text, where the format takes files; the rich one where it takes none."""
    if "os.files" not in {support.id for support in info.features}:
        return await rich(session, info)
    text = b"".join(b"line %07d\n" % number for number in range(_LINES))
    return requests.merged(await session.base(info), requests.files(requests.file("long", text)), info)


async def rich(session: Session, info: provisionerpb.FormatInfo) -> provisionerpb.RenderRequest:
    """Give a request with much that the format renders: order must not come from chance."""
    request = await session.base(info)
    good = {"sysctls", "kernel-modules", "user", "unit", "file-of-text", "file-mode", "ntp", "mount", "packages"}
    for trial in await feature_trials(session, info):
        if trial.case.name in good and trial.answer.ok:
            request = requests.merged(request, trial.case.bundle, info)
    return request
