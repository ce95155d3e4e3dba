"""Disks, filesystems, mounts and swap by real cloud-init and Ignition on real block devices, in qemu."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from tests.oracles import disk_machines

# Two machines boot at the same time, each of them two or three times, on emulated processors.
pytestmark = [pytest.mark.boots, pytest.mark.engine, pytest.mark.timeout(2000)]

PROVISIONERS = ("cloud-init", "ignition")
EXPECTED = yaml.safe_load(Path(__file__).with_name("disks_expectations.yaml").read_text(encoding="utf-8"))


def test_both_leave_the_machine_that_was_meant(engine: Callable[..., None]) -> None:
    """Tables, filesystems, mounts, swap and files are those of a table written by hand, on the first and second boot.

    No unit fails, kubeadm is called once and after all of it. One test, so that no machine boots twice as often.
    """
    engine("qemu")
    with ThreadPoolExecutor(2) as pool:
        notes = dict(zip(PROVISIONERS, pool.map(disk_machines.booted, PROVISIONERS), strict=True))
    seen = {
        f"{provisioner}, boot {number}": disk_machines.picture(note)
        for provisioner, boots in notes.items()
        for number, note in enumerate(boots, start=1)
    }
    assert seen == dict.fromkeys(seen, EXPECTED)
    for first, second in notes.values():
        assert (first["failed"], second["failed"]) == ([], [])
        assert len(second["calls"].splitlines()) == 1
        assert first["sentinel"] == "success\n"
