"""Defects in documents about disks: the comparison of what cloud-init and Ignition are told names each of them."""

import copy
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from tests.oracles import disk_documents, test_generated_disks
from tests.oracles.disk_documents import Words
from tests.oracles.mutants.defects import Defect
from tests.oracles.test_generated_disks import COUNT, cloud_config, ignition_config, mount_problems

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

_ONE_BOOT = pytest.mark.xdist_group("generated-mounts")


def _disks(tree: Any) -> list[Any]:
    return list(tree["disk_setup"].values()) if "disk_setup" in tree else tree["storage"]["disks"]


def _kind_of_the_last(tree: Any) -> None:
    for one in _disks(tree):
        if isinstance(one["layout"], list):
            share = one["layout"][-1]
            one["layout"][-1] = [share[0] if isinstance(share, list) else share, "0c"]


def _overwriting(tree: Any) -> list[Any]:
    return [one for one in tree["fs_setup"] if "cmd" not in one]


def _checked(tree: Any) -> list[Any]:
    return [one for one in tree["fs_setup"] if "cmd" in one]


def _without_options(one: Any) -> None:
    one["cmd"] = re.sub(r" -q -n\d+", "", one["cmd"])


CLOUD_CONFIG = [
    Defect("a partition of another kind", _kind_of_the_last, "disks"),
    Defect("what is there is kept", lambda t: [one.update(overwrite=False) for one in _disks(t)], "disks"),
    Defect("another table", lambda t: _disks(t)[0].update(table_type="mbr"), "disks"),
    Defect("a disk is left out", lambda t: t["disk_setup"].pop(next(iter(t["disk_setup"]))), "disks"),
    Defect("another filesystem", lambda t: [one.update(filesystem="ext3") for one in _overwriting(t)], "filesystems"),
    Defect("a label is lost", lambda t: [one.pop("label", 0) for one in _overwriting(t)], "filesystems"),
    Defect("options are lost", lambda t: [one.pop("extra_opts", 0) for one in _overwriting(t)], "filesystems"),
    Defect("options are lost where it checks", lambda t: [_without_options(one) for one in _checked(t)], "filesystems"),
]
IGNITION = [
    Defect(
        "a size is lost", lambda t: [part.pop("sizeMiB", 0) for d in _disks(t) for part in d["partitions"]], "disks"
    ),
    Defect(
        "a kind is lost", lambda t: [part.pop("typeGuid", 0) for d in _disks(t) for part in d["partitions"]], "disks"
    ),
    Defect("a table is not wiped", lambda t: [one.pop("wipeTable", 0) for one in _disks(t)], "disks"),
    Defect(
        "a filesystem is kept",
        lambda t: [one.pop("wipeFilesystem", 0) for one in t["storage"]["filesystems"]],
        "filesystems",
    ),
    Defect("a filesystem is left out", lambda t: t["storage"]["filesystems"].pop(), "filesystems"),
]


def _units(tree: Any, change: Callable[[str], str]) -> None:
    for one in tree["systemd"]["units"]:
        if one["name"].endswith(".mount"):
            one["contents"] = change(one["contents"])


MOUNT_UNITS = [
    Defect("a mount is left out", lambda t: _units(t, lambda text: text.replace("/a-b", "/other")), "only one has it"),
    Defect("a percent sign is lost", lambda t: _units(t, lambda text: text.replace("%%", "%")), "options"),
    Defect("another device", lambda t: _units(t, lambda text: text.replace("What=", "What=/x")), "what"),
    Defect("no kind of filesystem", lambda t: _units(t, lambda text: text.replace("Type=", "Kind=")), "type"),
    Defect("no check", lambda t: _units(t, lambda text: text.replace("Requires=", "Wishes=")), "checked"),
    Defect("the boot hangs on it", lambda t: _units(t, lambda text: text.replace("WantedBy", "RequiredBy")), "needed"),
    Defect("too early", lambda t: _units(t, lambda text: text.replace("remote-fs", "local-fs")), "target"),
    Defect("it is not enabled", lambda t: [one.update(enabled=False) for one in t["systemd"]["units"]], "only one"),
]
# Of all rows, in one boot.
ROWS: list[tuple[str, Callable[[list[str]], list[str]]]] = [
    ("what", lambda row: ["/dev/x", *row[1:]]),
    ("type", lambda row: [*row[:2], "ext3", *row[3:]]),
    ("options", lambda row: [*row[:3], *(["exec"] if len(row) > 3 else []), *row[4:]]),
    ("needed", lambda row: [*row[:3], *([row[3].replace("nofail", "user")] if len(row) > 3 else []), *row[4:]]),
    ("checked", lambda row: [*row[:5], *(["0"] if len(row) > 5 else [])]),
]


def changed(tree: dict[str, Any], defect: Defect) -> dict[str, Any]:
    """The document with a defect."""
    made = copy.deepcopy(tree)
    defect.change(made)
    return made


def parts(left: Words, right: Words) -> set[str]:
    """Which parts differ."""
    return {key for key in left if left[key] != right[key]}


@pytest.mark.parametrize("defect", CLOUD_CONFIG, ids=str)
def test_a_cloud_config_shows_a_defect(defect: Defect) -> None:
    """In some layout, and nothing but the part that has it."""
    seen = [
        parts(
            disk_documents.of_cloud_config(changed(cloud_config(number), defect)),
            disk_documents.of_ignition(ignition_config(number)),
        )
        for number in range(COUNT)
    ]
    assert set().union(*seen) == {defect.shown}


@pytest.mark.parametrize("defect", IGNITION, ids=str)
def test_an_ignition_config_shows_a_defect(defect: Defect) -> None:
    """In some layout, and nothing but the part that has it."""
    seen = [
        parts(
            disk_documents.of_cloud_config(cloud_config(number)),
            disk_documents.of_ignition(changed(ignition_config(number), defect)),
        )
        for number in range(COUNT)
        if ignition_config(number)["storage"].get("filesystems")
    ]
    assert set().union(*seen) == {defect.shown}


@_ONE_BOOT
@pytest.mark.parametrize("defect", MOUNT_UNITS, ids=str)
def test_a_mount_unit_shows_a_defect(defect: Defect, engine: Callable[..., None]) -> None:
    """What systemd makes of the sound lines is something else."""
    engine("root-trixie")
    lines = test_generated_disks.all_mounts()
    found = [each for n in range(COUNT) for each in mount_problems(n, lines, changed(ignition_config(n), defect))]
    assert [one for one in found if defect.shown in one]


@cache
def of_changed_rows() -> list[str]:
    """What is found of rows of which each has one of the defects in turn."""
    rows = test_generated_disks.all_rows()
    several = []
    for index, (_, change) in enumerate(ROWS):
        several += [[row[0], f"/srv{index}{row[1].removeprefix('/srv')}", *row[2:]] for row in map(change, rows)]
    lines = test_generated_disks.mounts_of_cloud_init(several)
    found = []
    for index in range(len(ROWS)):
        start = f"/srv{index}/"
        mine = {f"/srv/{path.removeprefix(start)}": one for path, one in lines.items() if path.startswith(start)}
        found += [
            f"{index}: {each}"
            for number in range(COUNT)
            for each in mount_problems(number, mine, ignition_config(number))
        ]
    return found


@_ONE_BOOT
@pytest.mark.parametrize("index", range(len(ROWS)), ids=[name for name, _ in ROWS])
def test_a_row_shows_a_defect(index: int, engine: Callable[..., None]) -> None:
    """What systemd makes of the line that cloud-init writes is something else than the sound unit."""
    engine("root-trixie")
    word = ROWS[index][0]
    assert [one for one in of_changed_rows() if one.startswith(f"{index}: ") and f": {word}: " in one]
