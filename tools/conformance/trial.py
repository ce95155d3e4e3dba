"""One try of a case on a format: what was asked, what came, and what of it the format must refuse."""

from dataclasses import dataclass, field

from slipway.conformance.v1alpha1 import case_pb2 as casepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tools.conformance import cases, requests
from tools.conformance.bounds import Outside, outside
from tools.conformance.session import Session
from tools.conformance.subject import Answer


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


async def tried(session: Session, info: provisionerpb.FormatInfo, case: casepb.Case) -> Trial:
    """Try a case on a format; the same one only once in a run."""
    key = (info.format, case.clause, case.name)
    if key not in session.trials:
        request = cases.request(case, await session.base(info), info)
        answer = await session.subject.render(request)
        session.trials[key] = Trial(case, request, answer, tuple(outside(request.bundle, info)))
    found: Trial = session.trials[key]
    return found


async def feature_trials(session: Session, info: provisionerpb.FormatInfo) -> list[Trial]:
    """Try all cases of features that are for a format."""
    return [await tried(session, info, case) for case in cases.cases("features") if requests.applies(case, info)]
