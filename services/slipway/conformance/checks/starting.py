"""EXE: when the program of the entry point starts, as far as user data tells; the rest only a machine shows."""

from slipway.conformance import requests
from slipway.conformance.check import Checks
from slipway.conformance.decoders import decoded
from slipway.conformance.decoders.words import starts
from slipway.conformance.outcome import NotRun, expect
from slipway.conformance.session import Session
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()


@CHECKS.check_format("EXE-002", form=requests.PLAN)
async def after_the_files(session: Session, info: provisionerpb.FormatInfo) -> None:
    """The program is not started at a time when its own file may not be there yet."""
    expect(
        statepb.START_EARLY not in await _starts(session, info), "the entry point is started before the files are there"
    )


@CHECKS.check_format("EXE-003", form=requests.PLAN)
async def started_again(session: Session, info: provisionerpb.FormatInfo) -> None:
    """The program is started on later boots as well: the machine may go down before it has ended."""
    later = {statepb.START_EVERY_BOOT, statepb.START_EARLY} & await _starts(session, info)
    expect(later, "the entry point is started at first boot, and never again")


async def _starts(session: Session, info: provisionerpb.FormatInfo) -> set[statepb.Start.ValueType]:
    """Give when the program of the smallest bundle starts.

    Raises:
        NotRun: nobody can tell.
    """
    request = await session.base(info)
    argv = list(request.bundle.plan.entrypoint.argv)
    state = await decoded(session.options, info, await session.subject.rendered(request))
    found = {program.start for program in state.programs if starts(list(program.argv), argv)}
    if not found or statepb.START_UNSPECIFIED in found:
        raise NotRun("the decoder does not report when the program starts")
    return found
