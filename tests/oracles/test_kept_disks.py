"""Data that is on a disk before the first boot stays there unless the spec says `overwrite`: on real block devices.

One boot answers for two versions of cloud-init: the machine's own sets up one set of disks, the code of the oldest
supported version, run by itself, the other one.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.oracles import disk_machines, kept_disks, ours
from tests.oracles.ours import machines
from tools.oracles import qemu, roots
from tools.oracles.qemu import Machine
from tools.oracles.sandbox import File

# A machine boots on an emulated processor.
pytestmark = [pytest.mark.boots, pytest.mark.engine, pytest.mark.timeout(1500)]

_OLDER = "/var/lib/engine/older"
_RUN_OLDER = f"""\
import json, logging, sys
sys.path.insert(0, "{_OLDER}")
logging.basicConfig(filename="{_OLDER}/log", level=logging.DEBUG)
from cloudinit.config import cc_disk_setup
class Cloud:
    def device_name_to_device(self, name): return None
cc_disk_setup.handle("disk_setup", json.load(open("{_OLDER}/document")), Cloud(), logging.getLogger(), [])
"""
_UNIT = f"""\
[Unit]
After=cloud-config.service
[Service]
Type=oneshot
ExecStart=/usr/bin/python3 -W ignore {_OLDER}/run.py
"""
KEPT = {
    "same": "data",
    "other": "data",
    "anyone": "data",
    "kind": "xfs made",
    "table": "nothing",
    "table-part1": "data",
    "nvme": "nothing",
    "nvme-part1": "data",
    "nottable": "data",
    "blank": "ext4 ma%de it's",
    "replaced": "ext4 made",
    "shares": "nothing",
    "shares-part1": "nothing",
    "shares-part2": "nothing",
}


def user_data(provisioner: str, name: str, nvme: str = "") -> bytes:
    """What a provisioner makes of the machine, for one set of disks."""
    question = machines("kept_disks.yaml")[f"quay-{provisioner}"]
    asked = MachineQuestion(type(question.subject)(), secretpb.SecretMaterial(), [])
    asked.subject.CopyFrom(question.subject)
    system: ospb.OperatingSystem = asked.subject.spec.os
    for extension in asked.subject.spec.extensions:
        extension.content.text = _named(extension.content.text, name, nvme)
    for disk in (*system.disks, *system.filesystems):
        disk.device = _named(disk.device, name, nvme)
    for filesystem in system.filesystems:
        if filesystem.HasField("partition"):
            filesystem.ClearField("device")
            filesystem.partition.disk = _named(filesystem.partition.disk, name, nvme)
    return ours.render(asked, provisioner).user_data


def _named(device: str, name: str, nvme: str) -> str:
    return device.replace("SET", name).replace("NVME", nvme)


def older_files(document: bytes) -> dict[str, File]:
    """The code of the oldest cloud-init, and what runs it on a document."""
    packages = roots.ROOTS["bookworm"].require() / "usr/lib/python3/dist-packages"
    code = {f"{_OLDER}/{path.relative_to(packages)}": File(host=path) for path in packages.glob("cloudinit/**/*.py")}
    unit = "/usr/lib/systemd/system/older.service"
    return {
        **code,
        f"{_OLDER}/run.py": File(_RUN_OLDER.encode()),
        f"{_OLDER}/document": File(json.dumps(yaml.safe_load(document)).encode()),
        unit: File(_UNIT.encode()),
        "/etc/systemd/system/multi-user.target.d/older.conf": File(b"[Unit]\nWants=older.service\n"),
    }


def test_cloud_init_keeps_data(engine: Callable[..., None], tmp_path: Path) -> None:
    """Nothing is lost by version 25.1, nor by 22.4; what is blank or may be overwritten is made."""
    engine("qemu", "root-bookworm")
    older = older_files(user_data("cloud-init", "b", "nvme1n1"))
    disks = [*kept_disks.devices(tmp_path, "a"), *kept_disks.devices(tmp_path, "b")]
    machine = Machine(devices=disks, files=older, boots=1, look=[f"{_OLDER}/log"])
    (note,) = qemu.cloud_init(user_data("cloud-init", "a", "nvme0n1"), machine, timeout=1400)
    assert f"{_OLDER}/log" in note["paths"]
    assert "older.service" not in note["failed"]
    assert {name: kept_disks.seen(note, name) for name in ("a", "b")} == {"a": KEPT, "b": KEPT}


def test_ignition_keeps_data(engine: Callable[..., None], tmp_path: Path) -> None:
    """Nothing is lost by Ignition, nor by the runner, which makes what Ignition would make without a look.

    Nor is a file below /run, over which the running system mounts its own.
    """
    engine("qemu")
    files = disk_machines.machine([]).files
    machine = Machine(devices=kept_disks.devices(tmp_path, "a"), files=files, boots=1, look=["/run/quay/words"])
    (note,) = qemu.ignition(user_data("ignition", "a", "nvme0n1"), machine, timeout=1400)
    assert kept_disks.seen(note, "a") == KEPT
    assert "/run/quay/words" in note["paths"]
    assert note["sentinel"] == "success\n"
