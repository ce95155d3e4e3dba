"""Machines on which the runner is executed for real."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine


@pytest.fixture(params=["dash", "bash", "busybox"])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LinuxMachine]:
    """Give a machine, once for every shell that a Linux system may have as `sh`."""
    missing = ""
    if os.geteuid() != 0:
        missing = "a chroot needs root"
    elif shutil.which(request.param) is None:
        missing = f"{request.param} is not installed: python -m tools.oracles.build shells"
    if missing and os.environ.get("SLIPWAY_REQUIRE_ENGINES") == "1":
        pytest.fail(missing, pytrace=False)
    if missing:
        pytest.skip(missing)
    made = LinuxMachine(tmp_path / "machine", request.param)
    yield made
    made.close()
