"""The runner hands over to machineadm where a spec asks for it, and says why where it cannot."""

import json
import shutil
from collections.abc import Callable

import pytest

from slipway.bootstrapper.artifacts.agent import IMAGE_PATHS, ResolvedAgent
from slipway.bootstrapper.assembly.neutral import add_agent
from slipway.bootstrapper.compilation.own_steps import surround
from slipway.bootstrapper.lowering.runners.linux_file import RUN_PROGRAM
from slipway.bootstrapper.lowering.runners.lower_steps import LoweredSteps
from slipway.bootstrapper.lowering.runners.step_data import STEP_DATA
from slipway.contract.content import SecretIndex, content_bytes
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import PREPARE, SENTINEL, STATE, lowered, note, script
from tools.oracles import machineadm

ENTRY = ["/bin/sh", RUN_PROGRAM]
FAKE = """#!/bin/sh
[ "$1" = version ] && echo "machineadm 0.1.0, step data {}, linux/amd64" && exit
echo handed-over >>/ran
{}
"""


def handing_over(*, required: bool = True) -> LoweredSteps:
    """Give the files of a machine with a step in each phase up to the bootstrap, and an agent of the image."""
    bundle = bundlepb.BootstrapBundle()
    bundle.plan.steps.extend([note("a", PREPARE), note("b")])
    origin = diagnosticpb.Origin(path="spec.agent")
    add_agent(bundle, ResolvedAgent(IMAGE_PATHS, (), "", required, origin))
    surround(bundle)
    return lowered(list(bundle.plan.steps))


def put(machine: LinuxMachine, text: str, path: str = "/opt/bin/machineadm") -> None:
    """Put a program into the image."""
    target = machine.path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
    target.chmod(0o755)


def ran(machine: LinuxMachine) -> list[str]:
    """Give what ran, in order."""
    return machine.path("/ran").read_text().split()


def test_it_hands_over_behind_prepare(machine: LinuxMachine, engine: Callable[..., None]) -> None:
    """The runner prepares, machineadm does the rest in the same run; on the next boot it is machineadm at once."""
    engine(machineadm.NAME)
    shutil.copy(machineadm.require(), machine.path("/real"))
    put(machine, FAKE.format(STEP_DATA, 'exec /real "$@"'))
    machine.write(handing_over().files)
    assert machine.run(ENTRY) == 0
    assert ran(machine) == ["a", "handed-over", "b"]
    assert machine.path(SENTINEL).exists()
    machine.boot()
    assert machine.run(ENTRY) == 0
    assert ran(machine) == ["a", "handed-over", "b", "handed-over"]
    assert machine.path(SENTINEL).exists()


@pytest.mark.parametrize(
    ("program", "why"),
    [("", "missing"), (FAKE.format(STEP_DATA - 1, ""), "too old"), ("#!/bin/sh\nexit 1\n", "too old"),
     (FAKE.format("unknown", ""), "too old")],
)  # fmt: skip
@pytest.mark.parametrize("required", [True, False])
def test_an_agent_that_cannot_be_used(machine: LinuxMachine, program: str, why: str, required: bool) -> None:
    """Where it is required a failure record says why, and nothing of the bootstrap ran; else the runner goes on."""
    if program:
        put(machine, program)
    machine.write(handing_over(required=required).files)
    assert (machine.run(ENTRY) == 0) is not required
    assert ran(machine) == (["a"] if required else ["a", "b"])
    assert machine.path(SENTINEL).exists() is not required
    record = machine.path(f"{STATE}/pre-00.failed")
    assert record.exists() is required
    if required:
        line, _, output = record.read_text().partition("\n")
        event = json.loads(line)
        assert (event["phase"], event["step"], event["exitCode"]) == ("PHASE_PRE", "pre-00", 1)
        assert why in output


def test_an_agent_that_is_gone_later_leaves_the_runner(machine: LinuxMachine) -> None:
    """The next boot goes on by the runner alone."""
    put(machine, FAKE.format(STEP_DATA, "exit 1"))
    machine.write(handing_over().files)
    assert machine.run(ENTRY) == 1
    assert ran(machine) == ["a", "handed-over"]
    machine.boot()
    machine.path("/opt/bin/machineadm").unlink()
    assert machine.run(ENTRY) == 0
    assert ran(machine) == ["a", "handed-over", "b"]


def test_the_first_usable_agent_is_taken(machine: LinuxMachine) -> None:
    """A newer one is taken, in whichever place it is."""
    put(machine, FAKE.format(STEP_DATA + 1, "exit 0"))
    machine.write(handing_over().files)
    assert machine.run(ENTRY) == 0
    assert ran(machine) == ["a", "handed-over"]


def test_nothing_changes_for_who_asks_for_nothing() -> None:
    """Without an agent the runner is sent without the lines that hand over."""
    texts = [
        next(content_bytes(file.content, SecretIndex([])) for file in made.files if file.path == RUN_PROGRAM)
        for made in (lowered([script("m", "true")]), handing_over())
    ]
    assert b"agent" not in texts[0]
    assert texts[1].count(b"exec $d/agent run") == 2
