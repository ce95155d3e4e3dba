"""Only one run at a time, for real: the runner in dash, bash and busybox, and machineadm."""

import re
import time
from pathlib import Path

import pytest

from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine, fifo, install, ran
from tests.bootstrapper.lowering.runners.plans import (
    lowered,
    note,
    script,
)


@pytest.fixture(name="machine")
def _machine(executor: LinuxMachine) -> LinuxMachine:
    """Every test of this file runs once for each executor."""
    return executor


def wait_for_lock(pid: int) -> None:
    """Wait until the kernel tells that a process waits for a lock of flock."""
    waits = re.compile(rf"-> FLOCK +ADVISORY +WRITE +{pid} ")
    deadline = time.monotonic() + 60
    while not waits.search(Path("/proc/locks").read_text(encoding="ascii")):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_only_one_run_at_a_time(machine: LinuxMachine) -> None:
    """A second start waits for the first, then finds everything done."""
    started, go, waiting = fifo(machine, "/started"), fifo(machine, "/go"), fifo(machine, "/waiting")
    if machine.agent is not None:
        pass
    elif machine.shell == "busybox":
        machine.fake("sleep", "[ -e /seen ] || { : >/seen; echo x >/waiting; }")
    else:
        machine.fake("flock", '[ ! -e /seen ] || echo x >/waiting; : >/seen; exec /usr/bin/flock "$@"')
    entry = install(machine, lowered([script("a", "echo a >>/ran; echo x >/started; read y </go || :"), note("b")]))
    first = machine.start(entry)
    started.read_text()
    second = machine.start(entry)
    if machine.agent is None:
        waiting.read_text()
    else:
        wait_for_lock(second.pid)
    assert ran(machine) == ["a"]
    go.write_text("go\n")
    assert (first.wait(60), second.wait(60)) == (0, 0)
    assert ran(machine) == ["a", "b"]


def test_a_daemon_that_a_step_leaves_behind_does_not_hold_the_lock(machine: LinuxMachine) -> None:
    """The lock is not inherited by steps."""
    fifo(machine, "/forever")
    entry = install(machine, lowered([script("a", "(read x </forever) & echo a >>/ran")]))
    process = machine.start(entry)
    assert process.wait(60) == 0
    assert machine.run(entry) == 0
    machine.path("/forever").write_text("")


def test_lock_without_flock(machine: LinuxMachine) -> None:
    """Where flock is missing a lock of a killed run of the same boot is recognised as dead."""
    if machine.shell != "busybox":
        pytest.skip("only the busybox machine can do without flock")
    started = fifo(machine, "/started")
    body = "echo a >>/ran; [ -e /again ] || { : >/again; echo x >/started; read y </started; }"
    entry = install(machine, lowered([script("a", body), note("b")]))
    killed = machine.start(entry)
    started.read_text()
    machine.kill(killed)
    assert machine.path("/run/slipway/pid").is_symlink()
    assert machine.run(entry) == 0
    assert ran(machine) == ["a", "a", "b"]
    assert not machine.path("/run/slipway/pid").is_symlink()
