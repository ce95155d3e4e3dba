"""Machines on which the runner is executed for real.

A quick run has those of one shell; all other executors are left to the shard.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tools.oracles import machineadm

SHELLS = ("dash", "bash", "busybox")
AGENT = "machineadm"
MARKS = {AGENT: pytest.mark.engine, "bash": pytest.mark.long, "busybox": pytest.mark.long}
BY_SHELL = [pytest.param(name, marks=MARKS.get(name, ())) for name in SHELLS]


@pytest.fixture(params=BY_SHELL)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LinuxMachine]:
    """Give a machine, once for every shell that a Linux system may have as `sh`."""
    yield from linux_machine(request.param, tmp_path)


@pytest.fixture(params=[*BY_SHELL, pytest.param(AGENT, marks=MARKS[AGENT])])
def executor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LinuxMachine]:
    """Give a machine once for every program that executes steps: the runner in each shell, and machineadm."""
    if request.param != AGENT:
        yield from linux_machine(request.param, tmp_path)
        return
    request.getfixturevalue("engine")(AGENT)
    for made in linux_machine("dash", tmp_path):
        made.agent = machineadm.require()
        made.is_alone = True
        yield made


def linux_machine(shell: str, tmp_path: Path) -> Iterator[LinuxMachine]:
    """Give a machine with this shell as `sh`."""
    missing = ""
    if os.geteuid() != 0:
        missing = "a chroot needs root"
    elif shutil.which(shell) is None:
        missing = f"{shell} is not installed: python -m tools.oracles.build shells"
    if missing and os.environ.get("SLIPWAY_REQUIRE_ENGINES") == "1":
        pytest.fail(missing, pytrace=False)
    if missing:
        pytest.skip(missing)
    made = LinuxMachine(tmp_path / "machine", shell)
    yield made
    made.close()
