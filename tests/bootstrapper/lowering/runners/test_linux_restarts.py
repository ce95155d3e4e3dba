"""What executes steps on Linux, over power cuts and boots, for real: the runner in three shells, and machineadm."""

import pytest

from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine, fifo, install, ran
from tests.bootstrapper.lowering.runners.plans import (
    POST,
    PRE,
    PREPARE,
    SENTINEL,
    STATE,
    lowered,
    note,
    script,
)


@pytest.fixture(name="machine")
def _machine(executor: LinuxMachine) -> LinuxMachine:
    """Every test of this file runs once for each executor."""
    return executor


def test_power_cut_in_mid_step_runs_that_step_again_and_no_other(machine: LinuxMachine) -> None:
    """After a kill -9 the runner goes on at the step that was running; finished ones stay finished."""
    started = fifo(machine, "/started")
    body = "echo b >>/ran; [ -e /again ] || { : >/again; echo x >/started; read y </started; }"
    entry = install(machine, lowered([note("a", PRE), script("b", body), note("c", POST)]))
    process = machine.start(entry)
    started.read_text()
    machine.kill(process)
    machine.boot()
    assert machine.run(entry) == 0
    assert ran(machine) == ["a", "b", "b", "c"]


def test_a_step_is_on_the_disk_before_its_mark(machine: LinuxMachine) -> None:
    """The disk is told to write before a step is marked as done, and again behind it: no mark outlives its step."""
    if machine.agent is not None:
        pytest.skip("machineadm asks the kernel itself; its Go tests show the order")
    if machine.shell == "busybox":
        pytest.skip("the shell of busybox has its own sync, of which there is no fake")
    machine.fake("sync", f'echo "$(echo $(cat /ran)): $(echo $(ls {STATE}))" >>/synced')
    assert machine.run(install(machine, lowered([note("a"), note("b")]))) == 0
    assert machine.path("/synced").read_text().splitlines() == ["a: ", "a: a", "a b: a", "a b: a b"]


def test_reboot_step_is_done_before_the_reboot_and_the_rest_follows_after_it(machine: LinuxMachine) -> None:
    """The machine reboots after the step; until then nothing more starts; then the run goes on behind it."""
    entry = install(machine, lowered([note("a", PRE, reboot=True), note("b")]))
    assert machine.run(entry) == 0
    assert machine.calls[-1] == "reboot "
    assert machine.run(entry) == 0
    assert ran(machine) == ["a"]
    assert not machine.path(SENTINEL).exists()
    machine.boot()
    assert machine.run(entry) == 0
    assert ran(machine) == ["a", "b"]
    assert [call for call in machine.calls if call.startswith("reboot")] == ["reboot "]


@pytest.mark.parametrize(("status", "runs"), [(0, ["a", "b"]), (7, ["a", "a", "b"])], ids=["succeeds", "fails"])
def test_a_step_that_ends_while_the_system_goes_down_is_the_last_one(
    machine: LinuxMachine, status: int, runs: list[str]
) -> None:
    """Somebody reboots in mid-step: nothing starts any more, and no failure is told: the next boot goes on."""
    machine.fake("systemctl", "[ ! -e /run/going-down ] || echo stopping")
    first = script("a", f": >/run/going-down; echo a >>/ran; [ $(wc -l </ran) != 1 ] || exit {status}")
    entry = install(machine, lowered([first, note("b")]))
    assert machine.run(entry) == 1
    assert ran(machine) == ["a"]
    assert not list(machine.path(STATE).glob("*.failed"))
    assert not machine.path(SENTINEL).exists()
    machine.boot()
    machine.fake("systemctl", "echo running")
    assert machine.run(entry) == 0
    assert ran(machine) == runs


@pytest.mark.parametrize("moment", ["in a try", "between two tries", "before the first"])
def test_no_try_starts_while_the_system_goes_down(machine: LinuxMachine, moment: str) -> None:
    """Tries that are left are for the next boot, too: none is used up, and no failure is told."""
    gone = ": >/run/going-down"
    later = f"[ -e /run/asked ] && {gone}; : >/run/asked; " if moment == "between two tries" else ""
    machine.fake("systemctl", f"{later}[ ! -e /run/going-down ] || echo stopping")
    tried = f"[ -e /fixed ] || {gone}; " if moment == "in a try" else ""
    entry = install(machine, lowered([script("a", f"echo a >>/ran; {tried}[ -e /fixed ]", retries=3), note("b")]))
    if moment == "before the first":
        machine.path("/run/going-down").touch()
    assert machine.run(entry) == 1
    assert ran(machine) == ([] if moment == "before the first" else ["a"])
    assert not list(machine.path(STATE).glob("*.*"))
    machine.boot()
    machine.path("/fixed").touch()
    machine.fake("systemctl")
    assert machine.run(entry) == 0
    assert ran(machine)[-2:] == ["a", "b"]
    assert len(ran(machine)) == (2 if moment == "before the first" else 3)


def test_resume_unit_is_there_only_when_a_step_needs_a_later_boot(machine: LinuxMachine) -> None:
    """Without such a step nothing is enabled; with one the unit is enabled before any other step runs."""
    plain = lowered([note("a")])
    assert not [file for file in plain.files if "systemd" in file.path]
    entry = install(machine, lowered([note("a", PREPARE, reboot=True)]))
    machine.run(entry)
    orders = [call for call in machine.calls if call != "systemctl is-system-running"]
    assert orders[0] == "systemctl enable slipway-resume.service"
    unit = machine.path("/etc/systemd/system/slipway-resume.service")
    assert "ExecStart=/bin/sh /var/lib/slipway/run\n" in unit.read_text()
    assert unit.stat().st_mode & 0o777 == 0o644


def test_a_failure_is_final_even_after_a_reboot(machine: LinuxMachine) -> None:
    """A failed step is not tried again, its record stays, nothing behind it runs."""
    entry = install(machine, lowered([script("a", "echo a >>/ran; exit 1"), note("b")]))
    machine.run(entry)
    machine.boot()
    assert machine.run(entry) != 0
    assert ran(machine) == ["a"]
    assert machine.path(f"{STATE}/a.failed").exists()


def test_retry_on_boot_tries_again_on_the_next_boot_only(machine: LinuxMachine) -> None:
    """In the same boot the failure stands; on the next one the step runs again, and success clears the record."""
    entry = install(machine, lowered([script("a", "echo a >>/ran; [ -e /fixed ]", retry_on_boot=True), note("b")]))
    assert machine.run(entry) != 0
    machine.path("/fixed").touch()
    assert machine.run(entry) != 0
    assert ran(machine) == ["a"]
    assert machine.path(f"{STATE}/a.failed").exists()
    machine.boot()
    assert machine.run(entry) == 0
    assert ran(machine) == ["a", "a", "b"]
    assert not machine.path(f"{STATE}/a.failed").exists()
