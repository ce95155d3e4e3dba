"""Power cuts, and a change of the executor between two boots: the runner in three shells, and machineadm, in one table.

`test_linux_runner.py` and `test_linux_restarts.py` show what each of them does by itself.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from slipway.bootstrapper.lowering.runners.linux_file import RUN_PROGRAM
from slipway.v1alpha1 import plan_pb2 as planpb
from tests.bootstrapper.lowering.runners.conftest import AGENT, MARKS, SHELLS, linux_machine
from tests.bootstrapper.lowering.runners.events import events, short
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import POST, PRE, SENTINEL, STATE, lowered, note, script
from tools.oracles import machineadm

ENTRY = ["/bin/sh", RUN_PROGRAM]
STEPS = (note("a", PRE), note("b"), note("c", POST))
PAIRS = [
    *((name, name) for name in (*SHELLS, AGENT)),
    *((shell, AGENT) for shell in SHELLS),
    *((AGENT, shell) for shell in SHELLS),
]
BY_PAIR = [
    pytest.param(pair, id=" then ".join(pair), marks=[MARKS[name] for name in {*pair} if name in MARKS])
    for pair in PAIRS
]


@dataclass
class Changing:
    """A machine whose steps are executed by one program, then by another.

    Attributes:
        machine: its file system and its shell.
        first: what executes before `change`.
        second: what does afterwards.
    """

    machine: LinuxMachine
    first: str
    second: str

    def use(self, name: str) -> None:
        """Have the next start done by this executor."""
        self.machine.agent = machineadm.require() if name == AGENT else None
        self.machine.is_alone = True

    def change(self) -> None:
        """Start the machine again, and have everything from now on done by the second executor."""
        self.machine.boot()
        self.use(self.second)

    def ran(self) -> list[str]:
        """Give the steps that ran, in order."""
        path = self.machine.path("/ran")
        return path.read_text().split() if path.exists() else []

    def cut(self, ready: Path) -> None:
        """Start the entry point, and take the power away when something is written to the named pipe."""
        process = self.machine.start(ENTRY)
        ready.read_text()
        self.machine.kill(process)


@pytest.fixture(params=BY_PAIR)
def changing(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Changing]:
    """Give a machine once for every pair of executors."""
    first, second = request.param
    if AGENT in request.param:
        request.getfixturevalue("engine")(AGENT)
    shell = next((name for name in request.param if name != AGENT), "dash")
    for machine in linux_machine(shell, tmp_path):
        made = Changing(machine, first, second)
        made.use(first)
        yield made


def pipe(machine: LinuxMachine) -> Path:
    """Make the named pipe by which the machine says that it is at the place of the power cut."""
    path = machine.path("/ready")
    os.mkfifo(path)
    os.mkfifo(machine.path("/never"))
    return path


@pytest.mark.parametrize("boundary", range(1, 2 * len(STEPS) + 1))
def test_power_cut_between_two_steps(changing: Changing, boundary: int) -> None:
    """Before and behind every step, and before the sentinel: each step runs once, and the run ends in success."""
    machine = changing.machine
    machine.write(lowered(STEPS).files)
    ready = pipe(machine)
    # Every executor asks the system for its state before a step starts, and again when its end has been kept.
    at = f"echo >>/asked; [ $(wc -l </asked) != {boundary} ] || {{ echo x >/ready; read x </never; }}"
    machine.fake("systemctl", at)
    changing.cut(ready)
    assert changing.ran() == ["a", "b", "c"][: boundary // 2]
    assert not machine.path(SENTINEL).exists()
    changing.change()
    machine.fake("systemctl")
    assert machine.run(ENTRY) == 0
    assert changing.ran() == ["a", "b", "c"]
    assert machine.path(SENTINEL).exists()
    assert sorted(path.name for path in machine.path(STATE).iterdir()) == ["a", "b", "c"]
    reported = events(machine)
    assert [event.sequence for event in reported] == list(range(1, len(reported) + 1))
    assert short(reported[-1:]) == "complete"


@pytest.mark.parametrize("inside", ["a", "b", "c"])
def test_power_cut_in_mid_step(changing: Changing, inside: str) -> None:
    """The step that was running runs again, and no other does."""
    machine = changing.machine
    wait = "[ -e /again ] || { : >/again; echo x >/ready; read x </never; }"
    steps = [
        script(step.id, f"echo {step.id} >>/ran; {wait if step.id == inside else ''}\n", step.phase) for step in STEPS
    ]
    machine.write(lowered(steps).files)
    changing.cut(pipe(machine))
    changing.change()
    assert machine.run(ENTRY) == 0
    assert changing.ran() == sorted(["a", "b", "c", inside])
    assert machine.path(SENTINEL).exists()


@dataclass(frozen=True)
class Change:
    """One line of the table of changes.

    Attributes:
        says: what it proves.
        step: the step that the first executor comes to; it runs between two others.
        first: whether the first executor ends with 0, and what has run then.
        second: the same of the second one, after another boot.
        sentinel: whether there is success at the end.
        failed: steps with a failure record at the end.
        events: what was reported of the step, by both together.
    """

    says: str
    step: planpb.Step
    first: tuple[bool, str]
    second: tuple[bool, str]
    sentinel: bool
    events: str
    failed: tuple[str, ...] = ()


TABLE = [
    Change(
        "success is not repeated, and its sentinel comes back",
        note("m"),
        (True, "a m z"), (True, "a m z"), sentinel=True, events="m started, m succeeded",
    ),
    Change(
        "a reboot goes on behind its step",
        note("m", reboot=True),
        (True, "a m"), (True, "a m z"), sentinel=True, events="m started, m rebooting",
    ),
    Change(
        "a failure is final for the other, too",
        script("m", "echo m >>/ran; exit 3"),
        (False, "a m"), (False, "a m"), sentinel=False, failed=("m",),
        events="m started, m failed 3 CommandFailed",
    ),
    Change(
        "a failure of one boot is tried again on the next",
        script("m", "echo m >>/ran; [ -e /fixed ]", retry_on_boot=True),
        (False, "a m"), (True, "a m m z"), sentinel=True,
        events="m started, m failed 1 CommandFailed, m started, m succeeded",
    ),
    Change(
        "retries begin anew",
        script("m", "echo m >>/ran; [ -e /fixed ]", retries=2, retry_on_boot=True),
        (False, "a m m m"), (True, "a m m m m z"), sentinel=True,
        events="m started, m retrying 1, m retrying 1, m failed 1 CommandFailed, m started, m succeeded",
    ),
]  # fmt: skip


@pytest.mark.parametrize("row", TABLE, ids=[row.says for row in TABLE])
def test_the_other_goes_on_where_one_stopped(changing: Changing, row: Change) -> None:
    """What one executor has kept means the same to the other."""
    machine = changing.machine
    machine.write(lowered([note("a", PRE), row.step, note("z", POST)]).files)
    assert ((machine.run(ENTRY) == 0), " ".join(changing.ran())) == row.first
    changing.use(changing.second)
    assert ((machine.run(ENTRY) == 0), " ".join(changing.ran())) == row.first, "in the same boot"
    changing.change()
    machine.path("/fixed").touch()
    assert ((machine.run(ENTRY) == 0), " ".join(changing.ran())) == row.second
    assert machine.path(SENTINEL).exists() == row.sentinel
    assert sorted(path.stem for path in machine.path(STATE).glob("*.failed")) == list(row.failed)
    reported = events(machine)
    assert [event.sequence for event in reported] == list(range(1, len(reported) + 1))
    assert short(event for event in reported if event.step == "m") == row.events
