"""The Windows runner's data: a JSON manifest, one script a step, the staged items.

What the runner promises stands in `lower_steps`; the manifest's shape in programs/run.ps1.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from slipway.bootstrapper.lowering.program_text import program
from slipway.bootstrapper.lowering.runners.linux_plan import flags
from slipway.bootstrapper.lowering.runners.run_order import (
    PHASES,
    FailureRules,
    check_interpreters,
    in_order,
    survives_boot,
    timeout_seconds,
)
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.bootstrapper.lowering.runners.windows_file import (
    INSTALL_PROGRAM,
    PLAN,
    POWERSHELL,
    RUN_PROGRAM,
    document,
    private_file,
)
from slipway.bootstrapper.lowering.runners.windows_script import (
    INTERPRETERS,
    command_line,
    script_wave,
    step_command,
    step_files,
)
from slipway.bootstrapper.lowering.runners.windows_stage import install_step, stage_files
from slipway.contract.content import literal
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb

ARGV: Final = (*POWERSHELL, RUN_PROGRAM)
RESUME_TASK = "slipway-resume"


def resume_step() -> planpb.Step:
    """Give the step that has the runner started again on later boots."""
    started = command_line(ARGV)
    argv = [
        "schtasks.exe",
        "/Create",
        "/F",
        "/RU",
        "SYSTEM",
        "/RL",
        "HIGHEST",
        "/SC",
        "ONSTART",
        "/TN",
        RESUME_TASK,
    ]
    argv += ["/TR", f"{started.program} {started.arguments}"]
    return planpb.Step(id="slipway-resume", phase=planpb.PHASE_PREPARE, command=planpb.Command(argv=argv))


def windows_files(*, bundle_id: str, items: Sequence[planpb.Step | Wave], rules: FailureRules) -> Iterator[ospb.File]:
    """Give every file that the runner needs.

    Raises:
        BundleInvalid: a step or a staged item cannot be expressed.
        UnsupportedFeature: a script is for a POSIX shell, or text of an extension is left.
    """
    waves = [item for item in items if isinstance(item, Wave)]
    steps = in_order(step for item in items for step in _steps_of(item))
    check_interpreters((step.command for step in steps), default=INTERPRETERS[0], known=INTERPRETERS)
    if survives_boot(steps):
        steps = in_order([resume_step(), *steps])
    yield private_file(RUN_PROGRAM, literal(program("run.ps1")))
    yield private_file(PLAN, document(_manifest(bundle_id, steps, rules)))
    if waves or any(script_wave(step) for step in steps):
        yield private_file(INSTALL_PROGRAM, literal(program("install.ps1")))
    for wave in waves:
        yield from stage_files(wave)
    for step in steps:
        yield from step_files(step)


def _steps_of(item: planpb.Step | Wave) -> Iterator[planpb.Step]:
    """Give the steps of an item; a script that is put together on the machine has one before its own."""
    if isinstance(item, Wave):
        yield install_step(item)
        return
    wave = script_wave(item)
    if wave is not None:
        assembly = install_step(wave)
        assembly.phase = item.phase
        yield assembly
    yield item


def _manifest(bundle_id: str, steps: Sequence[planpb.Step], rules: FailureRules) -> dict[str, Any]:
    before, after = rules.split(steps)
    entries = [
        *(_entry(step, rules) for step in before),
        {"sentinel": True},
        *(_entry(step, rules) for step in after),
    ]
    return {"id": bundle_id, "steps": entries}


def _entry(step: planpb.Step, rules: FailureRules) -> dict[str, Any]:
    started = step_command(step)
    return {
        "id": step.id,
        "phase": PHASES[step.phase],
        "program": started.program,
        "arguments": started.arguments,
        "timeout": timeout_seconds(step.command),
        "retries": step.command.retries,
        "flags": flags(step, rules),
    }
