"""A defect that only a machine with block devices shows: what the boot of `test_disks` looks at tells of it."""

import dataclasses
from collections.abc import Callable

import pytest
import yaml

from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.oracles import disk_machines, ours
from tests.oracles.ours import machines
from tools.oracles import qemu

pytestmark = [pytest.mark.boots, pytest.mark.engine, pytest.mark.timeout(2000)]

_FILE = "/var/lib/data/on-the-mount"


def test_a_file_that_is_written_before_its_mount_is_seen(engine: Callable[..., None]) -> None:
    """It lies in the root file system, below what is mounted over it, and nobody finds it."""
    engine("qemu")
    whole = machines("disks.yaml")["pier-disks"]
    question = MachineQuestion(type(whole.subject)(), secretpb.SecretMaterial(), [])
    question.subject.CopyFrom(whole.subject)
    system = question.subject.spec.os
    for items in (system.disks, system.filesystems, system.mounts, system.files):
        del items[1:]
    for field in ("users", "groups", "swaps"):
        system.ClearField(field)
    tree = yaml.safe_load(ours.render(question, "cloud-init").user_data)
    (file,) = [one for one in tree["write_files"] if one["path"] == _FILE]
    assert file.pop("defer")
    document = b"#cloud-config\n" + yaml.safe_dump(tree).encode()
    machine = dataclasses.replace(disk_machines.machine([_FILE]), boots=1)
    (note,) = qemu.cloud_init(document, machine, timeout=1800)
    seen = disk_machines.picture(note)
    assert seen["mounts"]["/var/lib/data"]["device"] == "vdb1"
    assert _FILE not in seen["files"]
