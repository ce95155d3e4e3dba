"""KubeadmConfigs' disks on real block devices: partitions, filesystems, mounts and swap, in qemu.

What today's provider says of disks is compared word by word elsewhere; here the words are carried out, by real
cloud-init and Ignition.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.oracles import configs, disk_machines, ours
from tools.oracles import qemu

# One machine boots twice, on an emulated processor.
pytestmark = [pytest.mark.boots, pytest.mark.engine, pytest.mark.long, pytest.mark.timeout(2000)]

_TABLE = list(yaml.safe_load_all(Path(__file__).with_name("imported_disks.yaml").read_text(encoding="utf-8")))
CASES = dict(zip(("cloud-init", "ignition"), zip(_TABLE[::2], _TABLE[1::2], strict=True), strict=True))


@pytest.mark.parametrize("provisioner", CASES)
def test_an_imported_config_leaves_the_machine_that_was_meant(provisioner: str, engine: Callable[..., None]) -> None:
    """Each boot has what the table says; the commands ran with the mounts in place, and kubeadm once, after them."""
    engine("qemu")
    document, expected = CASES[provisioner]
    (config,) = configs.configs_of(document)
    user_data = ours.render(config.question, provisioner).user_data
    boot = qemu.cloud_init if provisioner == "cloud-init" else qemu.ignition
    first, second = boot(user_data, disk_machines.machine(list(expected["files"])), timeout=1800)
    assert disk_machines.picture(first) == expected
    seen = disk_machines.picture(second)
    # The second boot waits for no device that it does not use: on a slow machine such a one comes after the look at it.
    unused = {name: words for name, words in expected["block"].items() if set(words) == {"size"}}
    seen["block"] = {**unused, **seen["block"]}
    assert seen == expected
    assert (first["failed"], second["failed"]) == ([], [])
    assert first["sentinel"] == "success\n"
    assert len(second["calls"].splitlines()) == 1
