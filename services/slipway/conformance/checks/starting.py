"""EXE: when the program of the entry point starts, as far as user data tells; the rest only a machine shows."""

from slipway.conformance import requests
from slipway.conformance.check import Checks
from slipway.conformance.decoders import decoded
from slipway.conformance.decoders.words import starts
from slipway.conformance.outcome import NotRun, Unverified, expect
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


@CHECKS.check_format("EXE-010", form=requests.PLAN)
async def program_by_name(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A program that is named without a path is started by that name."""
    request = await session.base(info)
    request.bundle.plan.entrypoint.argv[0] = "powershell.exe" if requests.is_windows(info) else "sh"
    state = await decoded(session.options, info, await session.subject.rendered(request))
    if "plan.entrypoint" not in state.features:
        raise Unverified("the decoder does not see plan.entrypoint")
    argv = list(request.bundle.plan.entrypoint.argv)
    started = any(starts(list(program.argv), argv) for program in state.programs)
    expect(started, "a program without a path is not started by its name")


@CHECKS.check_format("EXE-012", form=requests.PLAN)
async def name_of_the_service(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A service that starts the program has the name that the bundle gives."""
    request = await session.base(info)
    request.bundle.plan.entrypoint.unit_name = "conformance-start.service"
    state = await decoded(session.options, info, await session.subject.rendered(request))
    argv = list(request.bundle.plan.entrypoint.argv)
    names = {program.unit_name for program in state.programs if starts(list(program.argv), argv)} - {""}
    if not names:
        raise NotRun("the program is started by no service that the decoder names")
    expect(names == {"conformance-start.service"}, "the service of the entry point has another name than `unit_name`")


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
