"""A machine that cannot boot others says so, and what to do, before anything is built."""

import os
import subprocess
import sys

import pytest

from tools.node.__main__ import main

CHECK = [sys.executable, "-m", "tools.node", "check"]


def check(*wall: str) -> subprocess.CompletedProcess[str]:
    """What ``python -m tools.node check`` says behind a wall."""
    return subprocess.run([*wall, *CHECK], check=False, capture_output=True, text=True, timeout=60)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to have other control groups")
def test_control_groups_of_the_second_version_alone_are_refused_with_a_remedy() -> None:
    """As on most systems of today; how to have the first version is said."""
    done = check("unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs /sys/fs/cgroup && exec "$@"', "sh")
    assert done.returncode == 1
    assert "cgroup v1" in done.stderr
    assert "systemd.unified_cgroup_hierarchy=0" in done.stderr


def test_nobody_but_root_is_let_in(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """In words, not by the first mount that fails."""
    # In this process: somebody else may not be able to read the folder of this clone.
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    assert main(["check"]) == 1
    assert capsys.readouterr().err == "only root can boot machines: run this as root\n"
