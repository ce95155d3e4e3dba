"""Defects of the runner's program: its own tests, executed for real, see each of them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from slipway.bootstrapper.lowering.runners.lower_steps import LoweredSteps
from slipway.contract.content import literal
from tests.bootstrapper.lowering.runners import test_linux_restarts as restarts
from tests.bootstrapper.lowering.runners import test_linux_runner as tests
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine, install

RUN = "/var/lib/slipway/run"
DEFECTS: list[tuple[str, str, str, Callable[[LinuxMachine], None]]] = [
    (
        "the next step is begun after a failure",
        "*) exit 1 ;;",
        "*) e=1 ;;",
        tests.test_first_failure_stops_everything,
    ),
    (
        "the sentinel is written after a failure",
        "*) exit 1 ;;",
        "*) mkdir -p /run/cluster-api; : >/run/cluster-api/bootstrap-success.complete; exit 1 ;;",
        tests.test_first_failure_stops_everything,
    ),
    (
        "the sentinel is written at the beginning",
        "k=1\n",
        "k=1\nmkdir -p /run/cluster-api\necho success >/run/cluster-api/bootstrap-success.complete\n",
        tests.test_phases_run_in_order_and_the_sentinel_comes_last,
    ),
    (
        "a finished step is repeated",
        "[ -e $s ] && continue\n",
        "",
        tests.test_a_finished_run_is_never_repeated_and_its_sentinel_comes_back,
    ),
    (
        "everybody may read the record of a failure",
        "umask 077\n",
        "",
        tests.test_failure_leaves_a_private_record_and_one_line_on_the_console,
    ),
    (
        "the console is told nothing",
        "tee -a $j $o",
        "tee -a $j",
        tests.test_failure_leaves_a_private_record_and_one_line_on_the_console,
    ),
    (
        "the output of a quiet step is kept",
        "*x*) l=/dev/null ;;",
        "*x*) ;;",
        tests.test_output_of_a_redacted_step_is_kept_nowhere,
    ),
    (
        "a failure is forgotten on the next boot",
        "true >$m.stop || :\n",
        "",
        restarts.test_a_failure_is_final_even_after_a_reboot,
    ),
]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[LinuxMachine]:
    """A machine with dash."""
    made = LinuxMachine(tmp_path / "machine", "dash")
    yield made
    made.close()


@pytest.mark.engine
@pytest.mark.parametrize(("reason", "old", "new", "test"), DEFECTS, ids=[one[0] for one in DEFECTS])
def test_the_runners_own_tests_show_a_defect(  # noqa: PLR0913, PLR0917  # each is a fact of its own
    reason: str,
    old: str,
    new: str,
    test: Callable[[LinuxMachine], None],
    machine: LinuxMachine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The test fails with the defect in the program that it runs."""

    def install_defective(given: LinuxMachine, result: LoweredSteps) -> list[str]:
        for file in result.files:
            if file.path == RUN:
                text = file.content.segments[0].data.decode()
                if old not in text:
                    pytest.fail(f"{reason}: the program has no such text")
                file.content.CopyFrom(literal(text.replace(old, new, 1).encode()))
        return install(given, result)

    monkeypatch.setitem(test.__globals__, "install", install_defective)
    with pytest.raises((AssertionError, json.JSONDecodeError)):
        test(machine)
