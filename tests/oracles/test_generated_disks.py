"""The same layout of disks by cloud-init and by Ignition, for layouts that nobody thought of.

No block device is there: their own parsers judge the documents, and what both documents say is compared. Mounts are
read by the real cloud-init and by systemd, all of them in one boot. `test_disks` has real devices, for one layout.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import yaml

from slipway.v1alpha1 import os_pb2 as ospb
from tests.integration.documents import questions
from tests.oracles import configs, disk_documents, generated, generated_disks, ours
from tests.oracles.disk_documents import Words
from tests.oracles.filling import linux
from tools.oracles import cloud_init, fakes, finding, ignition
from tools.oracles.sandbox import ENVIRONMENT, Command

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

COUNT = 6
_ONE_BOOT = pytest.mark.xdist_group("generated-mounts")
_GENERATOR = "/usr/lib/systemd/system-generators/systemd-fstab-generator"
# Else it takes the machine for a container, in which no device is.
_WITH_DEVICES = {**ENVIRONMENT, "SYSTEMD_SYSFS_CHECK": "0"}
_FOLDERS = tuple(f"/run/generated/{name}" for name in ("normal", "early", "late"))


@cache
def rendered(number: int, provisioner: str) -> bytes:
    """What a provisioner makes of a layout, told in the words that it takes."""
    layout = generated_disks.layouts(COUNT)[number]
    asked = questions(configs.EXAMPLES / "native.yaml")["harbour-worker"]
    asked.subject.spec.target.CopyFrom(linux().subject.spec.target)
    asked.subject.spec.os.CopyFrom(layout if provisioner == "cloud-init" else generated_disks.in_sizes(layout))
    asked.subject.spec.ClearField("commands")
    # Some layouts have swap.
    asked.subject.spec.kubernetes.node.kubelet_arguments.add(name="fail-swap-on", value="false")
    return ours.render(asked, provisioner).user_data


def cloud_config(number: int) -> dict[str, Any]:
    """The document of a layout."""
    document: dict[str, Any] = yaml.safe_load(rendered(number, "cloud-init"))
    return document


def ignition_config(number: int) -> dict[str, Any]:
    """The config of a layout."""
    config: dict[str, Any] = json.loads(rendered(number, "ignition"))
    return config


def mounts_of_ignition(config: dict[str, Any]) -> dict[str, Words]:
    """The mounts of a config, by mount point."""
    units = [unit for unit in config["systemd"]["units"] if unit["name"].endswith(".mount")]
    found = [disk_documents.mount(unit["contents"]) for unit in units if unit["enabled"]]
    return {one["where"]: one for one in found}


def mounts_of_cloud_init(rows: list[list[str]]) -> dict[str, Words]:
    """What systemd makes of the lines that the real cloud-init writes for rows of its key `mounts`."""
    document = b"#cloud-config\n" + yaml.safe_dump({"mounts": rows}).encode()
    # There is nothing to mount; and systemd asks for no check by a program that is not there.
    given = fakes.command("mount") | fakes.command("fsck.btrfs", directory="/usr/sbin")
    given |= fakes.command("fsck.xfs", directory="/usr/sbin")
    with cloud_init.opened(extra_files=given) as machine:
        machine.boot(document)
        assert finding.errors(machine.state().findings) == []
        generate = Command((_GENERATOR, *_FOLDERS), environment=_WITH_DEVICES)
        *_, said = machine.run(Command(("mkdir", "-p", *_FOLDERS)), generate)
        assert said.status == 0, said.output
        made = machine.box.run_directory / _FOLDERS[0].removeprefix("/run/")
        found = {}
        for unit in made.glob("*.mount"):
            (link,) = made.glob(f"*/{unit.name}")
            target, _, kind = link.parent.name.rpartition(".")
            targets = {"wants": {"wanted_by": target}, "requires": {"required_by": target}}[kind]
            one = disk_documents.mount(unit.read_text(encoding="utf-8"), **targets)
            found[one["where"]] = one
    return found


@cache
def all_mounts() -> dict[str, Words]:
    """Those of all layouts, each with its number in front of the mount point."""
    return mounts_of_cloud_init(all_rows())


def all_rows() -> list[list[str]]:
    """The rows for them."""
    rows = [_numbered(row, number) for number in range(COUNT) for row in cloud_config(number)["mounts"]]
    return [row for row in rows if row[1] != "none"]


def _numbered(row: list[str], number: int) -> list[str]:
    return [row[0], row[1].replace("/srv", f"/srv/{number}"), *row[2:]]


def mount_problems(number: int, lines: dict[str, Words], config: dict[str, Any]) -> list[str]:
    """Where the lines of all layouts and a layout's config do not mean the same.

    cloud-init has answers of its own where nothing is said of options, or of checks: these are not compared.
    """
    units = mounts_of_ignition(config)
    mounts = {one.path: one for one in generated_disks.layouts(COUNT)[number].mounts if one.type != "swap"}
    found = [f"{path}: only one has it" for path in sorted(mounts.keys() ^ units.keys())]
    for path in sorted(mounts.keys() & units.keys()):
        mount, line, unit = mounts[path], lines[path.replace("/srv", f"/srv/{number}")], units[path]
        unsaid = {"where"} if mount.HasField("check") else {"where", "checked"}
        if not (mount.HasField("check") or mount.options):
            unsaid |= {"options", "target", "needed"}
        found += [
            f"{path}: {word}: {line[word]} and {unit[word]}"
            for word in unit
            if word not in unsaid and line[word] != unit[word]
        ]
    return found


@pytest.mark.parametrize("number", range(COUNT))
def test_the_documents_say_the_same(number: int) -> None:
    """Of partition tables, filesystems and swap."""
    left, right = cloud_config(number), ignition_config(number)
    assert disk_documents.of_cloud_config(left) == disk_documents.of_ignition(right)


@_ONE_BOOT
@pytest.mark.parametrize("number", range(COUNT))
def test_the_mounts_are_the_same(number: int, engine: Callable[..., None]) -> None:
    """What is mounted, where, how, checked or not, and whether the boot depends on it."""
    engine("root-trixie")
    assert mount_problems(number, all_mounts(), ignition_config(number)) == []


def test_their_own_parsers_take_them(engine: Callable[..., None]) -> None:
    """cloud-init's schema and Ignition's parser have nothing to say of any layout."""
    engine("root-trixie", "ignition-parsers")
    whole = {key: value for number in range(COUNT) for key, value in cloud_config(number)["disk_setup"].items()}
    listed = {key: [one for n in range(COUNT) for one in cloud_config(n)[key]] for key in ("fs_setup", "mounts")}
    document = b"#cloud-config\n" + yaml.safe_dump({"disk_setup": whole, **listed}).encode()
    assert cloud_init.validate(document) == []
    assert [ignition.validate(rendered(number, "ignition")) for number in range(COUNT)] == [[]] * COUNT


def test_every_field_of_disks_is_said() -> None:
    """A field that is added is in a layout, or left out with a reason."""
    said = {
        name for layout in generated_disks.layouts(COUNT) for name in generated.said(generated_disks.in_sizes(layout))
    }
    said |= {name for layout in generated_disks.layouts(COUNT) for name in generated.said(layout)}
    messages = (ospb.Disk, ospb.Partition, ospb.Filesystem, ospb.Mount)
    known = {f"{message.DESCRIPTOR.name}.{field.name}" for message in messages for field in message.DESCRIPTOR.fields}
    known = {name for name in known if not name.endswith(".origin")}
    assert generated_disks.LEFT_OUT.keys() <= known
    assert known - said == generated_disks.LEFT_OUT.keys()
