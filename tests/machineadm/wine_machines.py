"""The machines that `test_wine.py` looks at: each row of the tables of the executors for Linux, and some of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from slipway.v1alpha1 import plan_pb2 as planpb
from tests.bootstrapper.lowering.runners.plans import BOOTSTRAP, POST, PRE, note, program
from tests.bootstrapper.lowering.runners.test_events import CASES
from tests.bootstrapper.lowering.runners.test_executors import STEPS, TABLE
from tests.bootstrapper.lowering.runners.test_linux_runner import HOSTILE, POLICIES
from tests.machineadm.windows_steps import cmd, lowered
from tests.machineadm.wine_machine import Start

BOUNDARIES = range(1, 2 * len(STEPS) + 1)
_LINGER = "C:\\fake\\linger.exe"
_CUT = f">C:\\cut echo x\r\n{_LINGER}\r\n"
_CUT_INSIDE = f"if exist C:\\again exit 0\r\n>C:\\again echo x\r\n{_CUT}"
_FAIL_GOING_DOWN = "if exist C:\\again exit 0\r\n>C:\\again echo x\r\n>C:\\going-down echo x\r\nexit 7\r\n"
_NOISY = "@echo off\r\nfor /l %%n in (1,1,900) do echo line-%%n\r\necho last-words\r\nexit 9\r\n"
_PRINTING = "@C:\\fake\\shout.exe s3cret\r\n"
_LATER = Start(boot=2)


def machines() -> Mapping[str, Sequence[Start]]:
    """Give what happens to each machine, by name."""
    tables = {
        **{f"event: {case.says}": _once([note("a", PRE), case.step, note("z", POST)], case.policy) for case in CASES},
        **{f"change: {row.says}": _changing(row.step) for row in TABLE},
        **{f"cut at {boundary}": _cut_between(boundary) for boundary in BOUNDARIES},
        **{f"cut in {step.id}": [_cut(_steps(step.id, _CUT_INSIDE)), _LATER] for step in STEPS},
        **{f"policy: {reason}": _once(_phases(failing), policy) for reason, policy, failing, *_ in POLICIES},
    }
    limited = program("m", _LINGER)
    limited.command.timeout.FromSeconds(2)
    looking = [Start(arguments=("version",)), Start(arguments=("run", "--dry-run")), Start(arguments=("status",))]
    own = {
        "going down": [
            _cut(lowered([_step("a", _FAIL_GOING_DOWN, BOOTSTRAP), note("b")])),
            replace(_LATER, files={"/going-down": b""}),
        ],
        "hostile": _once([program("hostile", "C:\\fake\\witness.exe", *HOSTILE)]),
        "noisy": _once([cmd("noisy", _NOISY, PRE), note("never")]),
        "secret": _once([cmd("quiet", f"{_PRINTING}exit 3\r\n", redact_output=True, retries=1)]),
        "secret, cut": [_cut(lowered([cmd("quiet", f"{_PRINTING}{_CUT}", redact_output=True)]))],
        "timeout": _once([limited]),
        "daemon": _once([cmd("m", f"start /b {_LINGER}\r\nexit 0\r\n")]),
        "looking": [
            replace(looking[0], files=lowered([note("a", PRE), cmd("b", "exit 3\r\n")])),
            *looking[1:], Start(), looking[2],
        ],
    }  # fmt: skip
    return {**tables, **own}


def _once(steps: Sequence[planpb.Step], policy: planpb.ExecutionPolicy | None = None) -> list[Start]:
    return [Start(lowered(steps, policy))]


def _cut(files: Mapping[str, bytes]) -> Start:
    return Start(files, cut=True)


def _changing(step: planpb.Step) -> list[Start]:
    return [*_once([note("a", PRE), step, note("z", POST)]), Start(), replace(_LATER, files={"/fixed": b""})]


def _cut_between(boundary: int) -> list[Start]:
    # It asks PowerShell before a step starts, and again when its end has been kept.
    files = {**lowered(STEPS), "/cut-at": str(boundary).encode()}
    return [_cut(files), replace(_LATER, files={"/cut-at": b""})]


def _steps(inside: str, text: str) -> Mapping[str, bytes]:
    return lowered([_step(step.id, text if step.id == inside else "", step.phase) for step in STEPS])


def _phases(failing: str) -> list[planpb.Step]:
    phases = {"pre": PRE, "boot": BOOTSTRAP, "post": POST, "late": POST}
    return [_step(name, f"if {name}=={failing} exit 1\r\n", phase) for name, phase in phases.items()]


def _step(name: str, text: str, phase: planpb.Phase.ValueType) -> planpb.Step:
    return cmd(name, f">>C:\\ran echo {name}\r\n{text}", phase)
