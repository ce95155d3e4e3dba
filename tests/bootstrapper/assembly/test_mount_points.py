"""Mounts, homes, links and names that no machine can have: refused by field in a native spec, kept in an import."""

import json
from typing import Any

import pytest

from slipway.bootstrapper.assembly.subject import check
from slipway.contract.errors import SpecInvalid
from tests.bootstrapper.assembly.subjects import subject

FILE = {"path": "/opt/x", "content": {"text": "a"}}
LINK = {"path": "/opt/x", "target": "/srv"}
DISK: dict[str, Any] = {"source": "/dev/sdb1", "path": "/data"}
MADE = {"device": "/dev/sdb1", "format": "ext4", "label": "data"}
NAME = "/opt/" + "a" * 256


def _at(path: str, **parts: Any) -> dict[str, Any]:
    return {**DISK, "path": path, **parts}


def _fields(error: SpecInvalid) -> list[str]:
    """Give the fields, as they stand in the spec."""
    return sorted(each.path.removeprefix("SlipwayConfig/x: ").removeprefix("spec.") for each in error.violations)


def places(os: dict[str, Any]) -> list[str]:
    """Give the fields that are refused in a native spec, each with what to do."""
    try:
        check(subject(json.dumps({"os": os})))
    except SpecInvalid as error:
        return _fields(error)
    return []


def warnings(os: dict[str, Any]) -> list[str]:
    """Give the fields of an imported spec that are reported; nothing is refused."""
    question = subject(json.dumps({"os": os}))
    question.spec.imported.kind = "KubeadmConfig"
    return [each.field_path for each in check(question).diagnostics if each.code == "CANNOT_WORK"]


IN_VAIN: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a mount on a file": ({"files": [FILE], "mounts": [_at("/opt/x")]}, ["os.mounts[0].path"]),
    "below a file": ({"files": [FILE], "mounts": [_at("/opt/x/y/z")]}, ["os.mounts[0].path"]),
    "on a swap file": ({"swaps": [{"path": "/opt/x", "sizeMib": 1}], "mounts": [_at("/opt/x")]}, ["os.mounts[0].path"]),
    "on a link": ({"links": [LINK], "mounts": [_at("/opt/x")]}, ["os.mounts[0].path"]),
    "behind a link": ({"links": [LINK], "mounts": [_at("/opt/x/y")]}, ["os.mounts[0].path"]),
    "bound below a file": (
        {"files": [FILE], "mounts": [_at("/opt/x/y", source="/opt/z", options=["bind"])]},
        ["os.mounts[0].path"],
    ),
    "a home on a file": ({"files": [FILE], "users": [{"name": "ann", "home": "/opt/x"}]}, ["os.users[0].home"]),
    "links in a circle": (
        {"links": [{"path": "/opt/a", "target": "b"}, {"path": "/opt/b", "target": "/opt/a/c"}]},
        ["os.links[0].target", "os.links[1].target"],
    ),
    "a link to itself": ({"links": [{"path": "/opt/a", "target": "a"}]}, ["os.links[0].target"]),
    "another kind": ({"filesystems": [MADE], "mounts": [{**DISK, "type": "xfs"}]}, ["os.mounts[0].type"]),
    "another kind by the label": (
        {"filesystems": [MADE], "mounts": [_at("/data", source="LABEL=data", type="btrfs")]},
        ["os.mounts[0].type"],
    ),
    "another kind by the partition": (
        {
            "filesystems": [{"partition": {"disk": "/dev/sdb", "number": 1}, "format": "xfs"}],
            "mounts": [{**DISK, "type": "ext4"}],
        },
        ["os.mounts[0].type"],
    ),
    "a younger kind": (
        {"filesystems": [{**MADE, "format": "ext4"}], "mounts": [{**DISK, "type": "ext3"}]},
        ["os.mounts[0].type"],
    ),
    "an unknown kind": ({"filesystems": [{**MADE, "format": "ext44"}]}, ["os.filesystems[0].format"]),
    "no place": ({"mounts": [_at("none")]}, ["os.mounts[0].path"]),
    "a long name": ({"files": [{**FILE, "path": NAME}]}, ["os.files[0].path"]),
    "a long name of bytes": ({"directories": [{"path": "/opt/" + "ü" * 128}]}, ["os.directories[0].path"]),
    "a long name of a mount": ({"mounts": [_at(NAME)]}, ["os.mounts[0].path"]),
    "a long path": ({"files": [{**FILE, "path": ("/" + "a" * 63) * 64}]}, ["os.files[0].path"]),
    "the script of the entry point": (
        {"files": [{**FILE, "path": "/var/lib/cloud/scripts/per-boot/slipway"}]},
        ["os.files[0].path"],
    ),
    "a drop-in of our unit": (
        {"files": [{**FILE, "path": "/etc/systemd/system/slipway-bootstrap.service.d/a.conf"}]},
        ["os.files[0].path"],
    ),
    "a folder of drop-ins elsewhere": (
        {"links": [{**LINK, "path": "/usr/lib/systemd/system/slipway-resume.service.d"}]},
        ["os.links[0].path"],
    ),
}
USABLE: dict[str, dict[str, Any]] = {
    "a mount on a folder": {"directories": [{"path": "/data"}], "mounts": [DISK]},
    "a file on a mount": {"files": [{**FILE, "path": "/data/x"}], "mounts": [DISK]},
    "a file shown in the place of a file": {
        "files": [FILE],
        "mounts": [_at("/opt/x", source="/opt/z", options=["ro,bind"])],
    },
    "a link behind a mount": {"links": [{"path": "/data/l", "target": "/data/x"}], "mounts": [DISK]},
    "links one after another": {"links": [{"path": f"/l{n}", "target": f"/l{n + 1}"} for n in range(9)]},
    "the same kind": {"filesystems": [MADE], "mounts": [{**DISK, "type": "ext4"}]},
    "an older kind": {"filesystems": [{**MADE, "format": "ext2"}], "mounts": [{**DISK, "type": "ext4"}]},
    "any kind": {"filesystems": [MADE], "mounts": [{**DISK, "type": "auto"}, _at("/b", source="/dev/sdc", type="xfs")]},
    "a kind of the driver's own": {"filesystems": [MADE], "mounts": [{**DISK, "type": "fuse.x"}]},
    "the longest name": {"files": [{**FILE, "path": "/opt/" + "a" * 255}]},
    "the longest name of Windows": {"files": [{**FILE, "path": "C:\\" + "ü" * 255}]},
    "a neighbour of the script": {"files": [{**FILE, "path": "/var/lib/cloud/scripts/per-boot/slipway-x"}]},
    "a drop-in as a drop-in": {
        "systemdUnits": [{"name": "slipway-bootstrap.service", "dropIns": [{"name": "a.conf", "contents": "[Unit]\n"}]}]
    },
}


@pytest.mark.parametrize(("os", "expected"), IN_VAIN.values(), ids=IN_VAIN)
def test_what_cannot_come_about(os: dict[str, Any], expected: list[str]) -> None:
    """A native spec is refused by the field; an imported one is taken as it is, with a warning for the same."""
    assert places(os) == expected
    assert sorted(warnings(os)) == expected


@pytest.mark.parametrize("os", USABLE.values(), ids=USABLE)
def test_what_works_is_taken(os: dict[str, Any]) -> None:
    """Nothing is refused that a machine can have."""
    assert places(os) == []


FOLDERS = ["/", "/dev", "/etc", "/lib", "/proc", "/run", "/sys", "/usr", "/usr/lib", "/var/run", "/proc/1/root/etc"]


@pytest.mark.parametrize("path", FOLDERS)
def test_what_the_system_runs_from_is_not_mounted_over(path: str) -> None:
    """By whatever name; today's provider mounts it, so an import is left alone."""
    os = {"mounts": [_at(path)]}
    assert (places(os), warnings(os)) == (["os.mounts[0].path"], [])


@pytest.mark.parametrize("path", ["/var", "/var/lib", "/boot", "/home", "/dev/shm", "/run/x", "/etc/x"])
def test_other_folders_can_be_mounts(path: str) -> None:
    """Which first-boot system is able to mount it early enough is for the format to decide."""
    assert places({"mounts": [_at(path)]}) == []


@pytest.mark.parametrize("path", ["/etc", "/usr/bin", "/var", "/var/lib", "/var/run"])
def test_no_entry_takes_the_place_of_such_a_folder(path: str) -> None:
    """A link would have to remove it, and a file cannot be written there; a folder may say its mode."""
    assert places({"links": [{**LINK, "path": path}]}) == ["os.links[0].path"]
    assert places({"files": [{**FILE, "path": path}]}) == ["os.files[0].path"]
    assert places({"directories": [{"path": path}]}) == []


ONE_PATH: dict[str, tuple[dict[str, Any], str]] = {
    "file": ({"links": [LINK], "files": [FILE]}, "os.links[0]"),
    "appended": ({"links": [LINK], "files": [{**FILE, "append": True}]}, "os.links[0]"),
    "directory": ({"links": [LINK], "directories": [{"path": "/opt/x"}]}, "os.links[0]"),
    "swap": ({"links": [LINK], "swaps": [{"path": "/opt/x", "sizeMib": 1}]}, "os.swaps[0]"),
    "behind another": (
        {"links": [{"path": "/l", "target": "/opt"}, LINK], "files": [{**FILE, "path": "/l/x"}]},
        "os.links[1]",
    ),
}


@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize(("os", "place"), ONE_PATH.values(), ids=ONE_PATH)
def test_a_link_shares_its_path_with_nothing(os: dict[str, Any], place: str, *, imported: bool) -> None:
    """What has the same path would be written to its target, or be removed for it."""
    question = subject(json.dumps({"os": os}))
    if imported:
        question.spec.imported.kind = "KubeadmConfig"
    with pytest.raises(SpecInvalid) as caught:
        check(question)
    assert _fields(caught.value) == [place]


def config(**parts: Any) -> list[dict[str, Any]]:
    """Give the extensions with a config of Ignition's."""
    text = json.dumps({"ignition": {"version": "3.4.0"}, **parts})
    return [{"id": "ignition.slipway.dev/config", "mediaType": "application/json", "content": {"text": text}}]


def storage(**lists: Any) -> list[dict[str, Any]]:
    """Give the extensions with a config that has these lists in storage."""
    return config(storage=lists)


IN_CONFIG: dict[str, tuple[list[dict[str, Any]], str]] = {
    "file": (storage(files=[{"path": "/etc/x"}, {"path": "/var/lib/slipway/steps/99"}]), "storage.files[1]"),
    "another way": (storage(files=[{"path": "/var/../etc//slipway/zz"}]), "storage.files[0]"),
    "link": (storage(links=[{"path": "/var/lib/slipway", "target": "/tmp"}]), "storage.links[0]"),
    "target": (storage(links=[{"path": "/opt/a", "target": "/etc/slipway"}]), "storage.links[0]"),
    "through its link": (
        storage(links=[{"path": "/opt/a", "target": "/var/lib"}], directories=[{"path": "/opt/a/slipway"}]),
        "storage.directories[0]",
    ),
    "through the spec's link": (storage(files=[{"path": "/opt/link/slipway/x"}]), "storage.files[0]"),
    "filesystem": (
        storage(filesystems=[{"device": "/dev/sdb", "path": "/run/slipway"}]),
        "storage.filesystems[0]",
    ),
    "home": (config(passwd={"users": [{"name": "a", "homeDir": "/etc/slipway"}]}), "passwd.users[0]"),
    "unit": (config(systemd={"units": [{"name": "slipway-resume.service"}]}), "systemd.units[0]"),
}


@pytest.mark.parametrize(("extensions", "place"), IN_CONFIG.values(), ids=IN_CONFIG)
def test_a_config_of_ignition_writes_nothing_of_ours(extensions: list[dict[str, Any]], place: str) -> None:
    """Ignition merges it into the machine's own config, so the rule is that of the spec."""
    os = {"links": [{"path": "/opt/link", "target": "/var/lib"}]}
    with pytest.raises(SpecInvalid) as caught:
        check(subject(json.dumps({"os": os, "extensions": extensions})))
    (violation,) = caught.value.violations
    assert (violation.path.endswith("extensions[0].content"), violation.description.split()[0]) == (True, place)


def test_links_of_a_config_lead_the_specs_files_nowhere() -> None:
    """The file is named, as it would be by a link of the spec."""
    extensions = storage(links=[{"path": "/opt/a", "target": "/var/lib"}])
    os = {"files": [{**FILE, "path": "/opt/a/slipway/x"}]}
    with pytest.raises(SpecInvalid) as caught:
        check(subject(json.dumps({"os": os, "extensions": extensions})))
    assert _fields(caught.value) == ["os.files[0].path"]


@pytest.mark.parametrize(
    "extensions",
    [
        storage(files=[{"path": "/etc/slipway-x"}], links=[{"path": "/opt/a", "target": "/srv"}]),
        storage(files=5, links=[7, {"path": 5}], filesystems=[{"mount": "x"}]),
        config(passwd=[], systemd={"units": [{"dropins": "x"}]}),
        [{"id": "example.com/other", "mediaType": "application/json", "content": {"text": "/etc/slipway"}}],
    ],
)
def test_other_configs_are_left_to_the_provisioner(extensions: list[dict[str, Any]]) -> None:
    """Other paths, and what is no config at all."""
    check(subject(json.dumps({"extensions": extensions})))


def test_more_entries_than_can_be_checked_are_refused() -> None:
    """Each path is followed through every link."""
    with pytest.raises(SpecInvalid) as caught:
        check(subject(json.dumps({"extensions": storage(links=[{"path": "/a"}] * 1001)})))
    assert "more than 1000 entries" in caught.value.violations[0].description
