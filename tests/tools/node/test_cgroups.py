"""Control groups of machines: what is killed ends, also where a container was frozen at that moment."""

import subprocess
from pathlib import Path

import pytest

from tools.node import cgroups

FREEZER = Path("/sys/fs/cgroup/freezer")
GROUP = "slipway-test-of-cgroups"

pytestmark = pytest.mark.skipif(not cgroups.available(), reason="no control groups of the first version here")


def test_a_process_in_a_frozen_group_below_ends() -> None:
    """As that of a container which its runtime froze when the power was cut."""
    cgroups.make(GROUP)
    inner = FREEZER / GROUP / "container"
    inner.mkdir()
    process = subprocess.Popen(["sleep", "600"])
    try:
        (inner / "cgroup.procs").write_text(str(process.pid))
        (inner / "freezer.state").write_text("FROZEN")
        cgroups.kill(GROUP, depth=1)
        assert process.wait(10) == -9
    finally:
        (inner / "freezer.state").write_text("THAWED")
        process.kill()
        process.wait(10)
        cgroups.remove(GROUP)
    assert cgroups.with_prefix(GROUP) == []
