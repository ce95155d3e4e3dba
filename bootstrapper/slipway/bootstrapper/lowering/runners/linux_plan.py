"""The Linux runner's data: the manifest, one script a step, the staged items.

What the runner promises stands in `lower_steps`; the manifest's grammar in programs/run.sh.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from slipway.bootstrapper.lowering.program_text import program
from slipway.bootstrapper.lowering.runners.linux_file import INSTALL_PROGRAM, PLAN, RUN_PROGRAM, root_file
from slipway.bootstrapper.lowering.runners.linux_stage import install_step, stage_files
from slipway.bootstrapper.lowering.runners.run_order import (
    PHASES,
    FailureRules,
    check_interpreters,
    in_order,
    survives_boot,
    timeout_seconds,
)
from slipway.bootstrapper.lowering.runners.step_data import HANDOVER, is_handover, is_marker
from slipway.bootstrapper.lowering.runners.step_script import needs_assembly, step_files
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import literal
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb

ARGV: Final = ("/bin/sh", RUN_PROGRAM)
DOWNLOAD_RETRIES: Final = 12
"""So often all URLs are tried again, ten seconds apart: a server that is away for two minutes ends no bootstrap."""

_TRUST: Final = "trust"
"""Part of the installer that only downloads from servers with authorities of their own need."""

RESUME_UNIT = "slipway-resume.service"


def resume_step() -> planpb.Step:
    """Give the step that has the runner started again on later boots."""
    return planpb.Step(
        id="slipway-resume",
        phase=planpb.PHASE_PREPARE,
        command=planpb.Command(argv=["systemctl", "enable", RESUME_UNIT]),
    )


def linux_files(*, bundle_id: str, items: Sequence[planpb.Step | Wave], rules: FailureRules) -> Iterator[ospb.File]:
    """Give every file that the runner needs.

    Raises:
        BundleInvalid: a step or a staged item cannot be expressed.
        UnsupportedFeature: a script is not for a POSIX shell, or text of an extension is left.
    """
    items = [item for item in items if isinstance(item, Wave) or not is_marker(item)]
    waves = [item for item in items if isinstance(item, Wave)]
    steps = in_order(install_step(item, retries=DOWNLOAD_RETRIES) if isinstance(item, Wave) else item for item in items)
    check_interpreters((step.command for step in steps), default=planpb.INTERPRETER_SH, known=[planpb.INTERPRETER_SH])
    if survives_boot(steps):
        steps = in_order([resume_step(), *steps])
        yield root_file(f"/etc/systemd/system/{RESUME_UNIT}", literal(program("resume.service")), mode=0o644)
    part = HANDOVER if any(is_handover(step) for step in steps) else ""
    yield root_file(RUN_PROGRAM, literal(program("run.sh", part=part)))
    yield root_file(PLAN, literal(_manifest(bundle_id, steps, rules).encode()))
    if waves or any(needs_assembly(step.command.script) for step in steps):
        part = _TRUST if any(wave.own_authorities for wave in waves) else ""
        yield root_file(INSTALL_PROGRAM, literal(program("install.sh", part=part)))
    for wave in waves:
        yield from stage_files(wave)
    for step in steps:
        yield from step_files(step)


def _manifest(bundle_id: str, steps: Sequence[planpb.Step], rules: FailureRules) -> str:
    before, after = rules.split(steps)
    lines = [
        bundle_id,
        *(_line(step, rules) for step in before),
        "-",
        *(_line(step, rules) for step in after),
    ]
    return "".join(f"{line}\n" for line in lines)


def _line(step: planpb.Step, rules: FailureRules) -> str:
    command = step.command
    words = [step.id, PHASES[step.phase], flags(step, rules) or "-", str(command.retries)]
    limit = timeout_seconds(command)
    if limit:
        return " ".join([*words, str(limit)])
    while words[-1] in ("-", "0"):
        words.pop()
    return " ".join(words)


def flags(step: planpb.Step, rules: FailureRules) -> str:
    """Give the flags of a step, the same letters in both manifests; programs/run.sh explains them."""
    command = step.command
    letters = (
        ("r" if command.reboot else "")
        + ("x" if command.redact_output else "")
        + ("b" if command.retry_on_boot else "")
    )
    if rules.goes_on(step.phase):
        letters += "s" if step.phase == planpb.PHASE_BOOTSTRAP else "c"
    return letters
