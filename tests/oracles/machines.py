"""Boots machines whose commands only record how they were called, so that whole scripts run for real."""

import shlex

from tools.oracles import cloud_init, fakes, ignition
from tools.oracles.cloud_init import MachineFacts
from tools.oracles.machine_state import MachineState
from tools.oracles.sandbox import File

RECORDED = ("record", "systemctl", "hostnamectl", "sysctl", "modprobe", "swapoff", "swapon", "apt-get", "chronyc")
_UNIT = b"[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
# kubeadm's call is recorded together with the configuration that it could read at that moment.
_KUBEADM = """\
#!/bin/sh
config=$(printf '%s\\n' "$@" | sed -n '/^--config$/{{n;p}}')
exec {program} "$@" < "${{config:-/dev/null}}"
"""
_HIDDEN = "/usr/local/lib/fakes"
# What Flatcar's metadata service puts into the environment of the bootstrap's unit.
_ENVSUBST = b"""\
#!/usr/bin/python3 -IS
import os, sys
os.environ |= {"COREOS_EC2_HOSTNAME": "node0", "COREOS_CUSTOM_HOSTNAME": "node0"}
sys.stdout.write(os.path.expandvars(sys.stdin.read()))
"""


def given_files(*, kubeadm: int = 0, commands: tuple[str, ...] = RECORDED) -> dict[str, File]:
    """What each machine has beforehand; ``kubeadm`` is the status that kubeadm ends with."""
    given = {f"/lib/systemd/system/{name}.service": File(_UNIT) for name in ("containerd", "kubelet")}
    given |= fakes.command("kubeadm", statuses=[kubeadm], reads_stdin=True, directory=_HIDDEN)
    script = _KUBEADM.format(program=shlex.quote(f"{_HIDDEN}/kubeadm"))
    given["/usr/local/bin/kubeadm"] = File(script.encode(), 0o755)
    given["/usr/local/bin/envsubst"] = File(_ENVSUBST, 0o755)
    for name in commands:
        given |= fakes.command(name)
    return given


def boot_cloud_init(user_data: bytes, *, kubeadm: int = 0, root: str = "trixie") -> MachineState:
    """Have cloud-init boot a machine whose names are the same for every source."""
    facts = MachineFacts(local_hostname="node0", meta_data={"hostname": "node0"})
    return cloud_init.run(user_data, root=root, machine=facts, extra_files=given_files(kubeadm=kubeadm))


def boot_ignition(config: bytes, *, unit: str, kubeadm: int = 0) -> MachineState:
    """Have Ignition set up a machine, and run the unit of the bootstrap."""
    return ignition.run(config, extra_files=given_files(kubeadm=kubeadm), start=(unit,))
