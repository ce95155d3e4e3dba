"""A KubeadmConfig's disks on real block devices: partitions, filesystems, mounts and swap, by real cloud-init in qemu.

What today's provider says of disks is compared word by word elsewhere; here the words are carried out.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.oracles import configs, disk_machines, ours
from tools.oracles import qemu

# One machine boots twice, on an emulated processor.
pytestmark = [pytest.mark.boots, pytest.mark.engine, pytest.mark.long, pytest.mark.timeout(2000)]

DOCUMENT, EXPECTED = yaml.safe_load_all(Path(__file__).with_name("imported_disks.yaml").read_text(encoding="utf-8"))


def test_an_imported_config_leaves_the_machine_that_was_meant(engine: Callable[..., None]) -> None:
    """Each boot has what the table says; the commands ran with the mounts in place, and kubeadm once, after them."""
    engine("qemu")
    (config,) = configs.configs_of(DOCUMENT)
    user_data = ours.render(config.question, "cloud-init").user_data
    first, second = qemu.cloud_init(user_data, disk_machines.machine(list(EXPECTED["files"])), timeout=1800)
    assert [disk_machines.picture(note) for note in (first, second)] == [EXPECTED, EXPECTED]
    assert (first["failed"], second["failed"]) == ([], [])
    assert first["sentinel"] == "success\n"
    assert len(second["calls"].splitlines()) == 1
