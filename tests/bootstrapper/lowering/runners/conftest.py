"""Machines on which the runner is executed for real."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tools.oracles import machineadm

SHELLS = ("dash", "bash", "busybox")
AGENT = "machineadm"


@pytest.fixture(params=SHELLS)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LinuxMachine]:
    """Give a machine, once for every shell that a Linux system may have as `sh`."""
    yield from linux_machine(request.param, tmp_path)


@pytest.fixture(params=[*SHELLS, AGENT])
def executor(request: pytest.FixtureRequest, tmp_path: Path, engine: Callable[..., None]) -> Iterator[LinuxMachine]:
    """Give a machine once for every program that executes steps: the runner in each shell, and machineadm."""
    if request.param != AGENT:
        yield from linux_machine(request.param, tmp_path)
        return
    engine(AGENT)
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
