"""Boots with the real systemd: its units run in their order, failures are seen, and the host stays out of reach."""

import json
import os
from pathlib import Path

import pytest

from tools.node import cgroups
from tools.oracles import cloud_init, fakes, finding, ignition, roots, sandbox, systemd_boot, tree_diff
from tools.oracles.failures import EngineTimeout
from tools.oracles.sandbox import Command, File

pytestmark = pytest.mark.engine

UNIT = """\
[Unit]
After=network.target
[Service]
Type=oneshot
ExecStart=/usr/local/bin/kubeadm init '%H'
ExecStartPost=/bin/sh -c 'mkdir -p /run/cluster-api && touch /run/cluster-api/bootstrap-success.complete'
[Install]
WantedBy=multi-user.target
"""
CLOUD_CONFIG = (
    b"#cloud-config\n"
    + json.dumps(
        {
            "write_files": [{"path": "/etc/val/a.conf", "content": "hello\n", "permissions": "0600"}],
            "runcmd": [
                "kubeadm init",
                "mkdir -p /run/cluster-api",
                "touch /run/cluster-api/bootstrap-success.complete",
            ],
        }
    ).encode()
)


def ignition_config(unit=UNIT):
    units = [{"name": "val.service", "enabled": True, "contents": unit}]
    return json.dumps({"ignition": {"version": "3.3.0"}, "systemd": {"units": units}}).encode()


@pytest.mark.parametrize("root", ["trixie", "bookworm"])
def test_cloud_init_by_its_own_units(engine, root):
    """The packaged units leave what the bare stages leave: the quick way of running is a fair one."""
    engine(f"root-{root}")
    files = fakes.command("kubeadm")
    booted = cloud_init.run(CLOUD_CONFIG, root=root, extra_files=files, systemd=True)
    bare = cloud_init.run(CLOUD_CONFIG, root=root, extra_files=files)
    assert (booted.status, booted.findings) == ("done", ())
    assert "/run/cluster-api/bootstrap-success.complete" in booted.run
    assert len(booted.calls) == 1
    assert tree_diff.compare(booted, bare) == []


def test_enabled_unit_of_ignition_starts(engine):
    """A unit that Ignition enabled is started by systemd itself, specifiers and all."""
    engine("ignition")
    state = ignition.run(ignition_config(), extra_files=fakes.command("kubeadm"), systemd=True)
    assert (state.status, state.findings) == ("done", ())
    assert [call.argv for call in state.calls] == [("kubeadm", "init", "node0")]
    assert "/run/cluster-api/bootstrap-success.complete" in state.run


@pytest.mark.parametrize(
    ("unit", "status", "calls", "reason"),
    [
        (UNIT, 1, 1, "a failing command fails its unit"),
        (UNIT.replace("[Install]\nWantedBy=multi-user.target\n", ""), 0, 0, "without [Install] nothing starts"),
        (UNIT.replace("[Unit]", "[Unit]\nConditionPathExists=/nowhere"), 0, 0, "a condition that fails"),
    ],
)
def test_unit_that_does_not_run(engine, unit, status, calls, reason):
    """What keeps a unit from running is systemd's decision, and is seen."""
    engine("ignition")
    files = fakes.command("kubeadm", statuses=[status])
    state = ignition.run(ignition_config(unit), extra_files=files, systemd=True)
    assert len(state.calls) == calls, reason
    failed = [error for error in finding.errors(state.findings) if error.message == "val.service failed"]
    assert len(failed) == status, reason
    assert "/run/cluster-api/bootstrap-success.complete" not in state.run


def test_second_boot(engine):
    """The second boot repeats no per-instance work, and the sentinel in ``/run`` is gone."""
    engine("root-trixie")
    state = cloud_init.run(CLOUD_CONFIG, extra_files=fakes.command("kubeadm"), systemd=True, boots=2)
    assert len(state.calls) == 1
    assert "/run/cluster-api/bootstrap-success.complete" not in state.run


def test_host_stays_out_of_reach(engine):
    """A booted machine has no block devices, cannot write the host's sysctls, and cannot swap or mount its disks."""
    engine("root-trixie")
    script = b"""#!/bin/sh
{ find /dev -type b; echo 1 > /proc/sys/vm/overcommit_memory; mount -o remount,rw /proc/sys
dd if=/dev/zero of=/s bs=1M count=1; chmod 600 /s; mkswap /s; swapon /s
mknod /b b 254 0; date -s 2020-01-01; } 2>/dev/null
echo "$?" > /result; head -1 /proc/swaps > /swaps; tail -n +2 /proc/swaps >> /swaps; ls /b >> /swaps
"""
    unit = UNIT.replace("/usr/local/bin/kubeadm init '%H'", "-/attack")
    before = Path("/proc/sys/vm/overcommit_memory").read_text()
    with ignition.opened(extra_files={"/attack": File(script, 0o755)}) as machine:
        machine.boot(ignition_config(unit))
        machine.boot_under_systemd()
        (outcome,) = machine.run(Command(("sh", "-c", "cat /result; wc -l < /swaps")))
    assert outcome.output.split() == [b"1", b"1"]
    assert Path("/proc/sys/vm/overcommit_memory").read_text() == before


def test_boot_has_a_time_limit(engine):
    """A machine that never comes up is killed."""
    engine("root-trixie")
    unit = "[Service]\nType=oneshot\nExecStart=sleep 1000\n[Install]\nWantedBy=multi-user.target\n"
    with sandbox.opened(roots.ROOTS["trixie"].require()) as box:
        box.session(
            [Command(("systemctl", "enable", "hang.service"))],
            files={"/etc/systemd/system/hang.service": File(unit.encode())},
        )
        with pytest.raises(EngineTimeout):
            systemd_boot.boot(box, timeout=4)
    assert cgroups.with_prefix(f"engine-{os.getpid()}-") == []


@pytest.mark.skipif(not cgroups.available(), reason="this machine has no control groups of the first version")
def test_empty_groups_of_others_are_left_alone(engine, tmp_path):
    """A systemd that ends removes all empty groups below its root, and a machine of a site begins with empty ones."""
    engine("root-trixie")
    name = f"slipway-other-{tmp_path.name}"
    cgroups.make(name)
    try:
        before = cgroups.with_prefix(name)
        with sandbox.opened(roots.ROOTS["trixie"].require()) as box:
            systemd_boot.boot(box)
        assert cgroups.with_prefix(name) == before
        assert cgroups.with_prefix(f"engine-{os.getpid()}-") == []
    finally:
        cgroups.remove(name)
