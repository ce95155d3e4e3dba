"""Makes of all cases a few requests that hold as much as a format takes at once: what is varied in them, is together.

Most slips need no company to be seen, and no solitude either. So one render tries as many fields as there are.
"""

from google.protobuf.message import Message

from slipway.conformance import requests
from slipway.conformance.bounds import outside
from slipway.conformance.faults import faults, fits
from slipway.conformance.session import Session
from slipway.conformance.trial import Trial, free
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb


async def richest(
    session: Session, info: provisionerpb.FormatInfo, trials: list[Trial]
) -> list[provisionerpb.RenderRequest]:
    """Give requests that the format renders, which have together every field that one of the cases has.

    Args:
        session: the run.
        info: the format.
        trials: cases that the format renders.
    """
    key = (info.format, "", "the richest")
    if key in session.trials:
        return list(session.trials[key])
    made: list[provisionerpb.RenderRequest] = []
    covered: set[str] = set()
    for trial in sorted(free(trials), key=lambda trial: -trial.case.bundle.ByteSize()):
        fields = set(fields_of(trial.request.bundle))
        if fields <= covered:
            continue
        covered |= fields
        for index, request in enumerate(made):
            wider = requests.merged(request, trial.case.bundle, info)
            if (
                not fits(wider.bundle, request.bundle, faults(request.bundle))
                or outside(wider.bundle, info)
                or not fields <= set(fields_of(wider.bundle))
            ):
                continue
            if (await session.subject.render(wider)).ok:
                made[index] = wider
                break
        else:
            made.append(trial.request)
    session.trials[key] = made
    return list(made)


def fields_of(message: Message, above: str = "") -> list[str]:
    """Give all fields that are set in a message, by names without indices; those of lists once for each entry."""
    collected = []
    for field, value in message.ListFields():
        name = f"{above}.{field.name}" if above else field.name
        collected.append(name)
        if field.message_type is not None:
            for entry in value if field.is_repeated else [value]:
                collected += fields_of(entry, name)
    return collected
