"""Folders that only Slipway writes to are reached by no other name of theirs, and by no link of the spec."""

import json
from typing import Any

import pytest

from slipway.bootstrapper.assembly import paths
from slipway.bootstrapper.assembly.canonical_path import canonical
from slipway.bootstrapper.assembly.subject import check
from slipway.contract.errors import SpecInvalid
from slipway.v1alpha1 import os_pb2 as ospb
from tests.bootstrapper.assembly.subjects import subject

FILE: dict[str, Any] = {"content": {"text": "x"}}


def places(os: dict[str, Any], **parts: Any) -> list[str]:
    """Give the fields that are refused in a spec."""
    try:
        check(subject(json.dumps({"os": os, **parts})))
    except SpecInvalid as error:
        return [
            violation.path.removeprefix("SlipwayConfig/x: ").removeprefix("spec.") for violation in error.violations
        ]
    return []


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/etc/slipway", "the folder itself"),
        ("/var/run/cluster-api/x", "/var/run is a link to /run on every distribution"),
        ("/run/slipway/lock", "what the executor keeps until the next boot"),
        ("/var/run/slipway", "likewise, by the link"),
        ("/proc/1/root/etc/slipway/x", "the root of a process"),
        ("/proc/self/task/1/root/var/run/cluster-api/x", "that of a thread, and the link"),
        ("/sysroot/ostree/deploy/fcos/var/lib/slipway/x", "where ostree keeps /var"),
        ("/sysroot/ostree/deploy/fcos/deploy/abc.0/etc/slipway/x", "and /etc"),
        ("C:\\ProgramData\\Slipway\\x", "the folder of Windows"),
        ("c:/PROGRAMDATA/slipway/x", "Windows ignores case"),
        ("C:\\Users\\All Users\\slipway\\x", "a junction that Windows Setup makes"),
        ("C:\\Documents and Settings\\All Users\\Application Data\\slipway\\x", "two of them"),
        ("C:\\ProgramData\\Application Data\\Application Data\\slipway", "one that leads to itself"),
        ("/ProgramData/slipway/x", "on Windows the drive of the system is meant"),
    ],
)
def test_no_other_name_of_a_folder_is_taken(path: str, reason: str) -> None:
    """Whatever kind of entry has the path."""
    assert reason
    assert places({"files": [{"path": path, **FILE}]}) == ["os.files[0].path"]
    assert places({"directories": [{"path": path}]}) == ["os.directories[0].path"]
    assert places({"links": [{"path": path, "target": "/opt/x"}]}) == ["os.links[0].path"]
    assert places({"swaps": [{"path": path, "sizeMib": 1}]}) == ["os.swaps[0].path"]
    assert places({"users": [{"name": "ann", "home": path}]}) == ["os.users[0].home"]


@pytest.mark.parametrize(
    "path", ["C:\\PROGRA~3\\slipway\\x", "C:\\ProgramData\\slipway:x", "C:\\ProgramData\\slipway.\\x"]
)
def test_names_that_only_the_machine_can_resolve_are_no_paths(path: str) -> None:
    """Short names, streams, and endings that Windows cuts off."""
    assert places({"files": [{"path": path, **FILE}]}) == ["os.files[0].path"]


@pytest.mark.parametrize(
    ("links", "path", "reason"),
    [
        ([("/opt/a", "/var/lib")], "/opt/a/slipway/x", "a link to a folder above"),
        ([("/opt/a", "../var/lib")], "/opt/a/slipway/x", "a relative one"),
        ([("/opt/a", "//var//./lib/")], "/opt/a/slipway/x", "one that is written otherwise"),
        ([("/opt/a", "/opt/b"), ("/opt/b", "/var/lib")], "/opt/a/slipway/x", "one after another"),
        ([("/opt/b", "/var/lib"), ("/opt/a", "/opt/b")], "/opt/a/slipway/x", "in the other order"),
        ([("/opt/a", "/var/lib/b"), ("/opt/a/c", "..")], "/opt/a/c/slipway/x", "a relative one behind another"),
        ([("/opt/a/c", ".."), ("/opt/a", "/var/lib/b")], "/opt/a/c/slipway/x", "whichever comes first"),
        ([("/opt/a", "/")], "/opt/a/etc/slipway/x", "the root"),
        ([("/opt/a", "/proc/1/root")], "/opt/a/etc/slipway/x", "the root of a process"),
        ([("C:\\a", "C:\\ProgramData")], "c:/A/slipway/x", "on Windows"),
        ([("C:\\a", "\\ProgramData")], "c:/a/slipway/x", "on the drive of the link"),
        ([("C:\\b\\a", "..\\programdata.")], "c:/b/a/slipway/x", "relative, with an ending that is cut off"),
    ],
)
def test_no_link_of_the_spec_leads_there(links: list[tuple[str, str]], path: str, reason: str) -> None:
    """A file below the link would be written there."""
    assert reason
    made = [{"path": link, "target": target} for link, target in links]
    assert places({"links": made, "files": [{"path": path, **FILE}]}) == ["os.files[0].path"]


@pytest.mark.parametrize(
    ("os", "field", "reason"),
    [
        ({"links": [{"path": "/opt/a", "target": "/etc/slipway"}]}, "os.links[0].target", "a link into it"),
        ({"links": [{"path": "/opt/a", "target": "/etc/slipway/x", "hard": True}]}, "os.links[0].target", "a hard one"),
        ({"mounts": [{"source": "/dev/b", "path": "/var//lib/slipway"}]}, "os.mounts[0].path", "a mount over it"),
        ({"mounts": [{"source": "/etc/slipway", "path": "/b", "options": ["bind"]}]}, "os.mounts[0].source", "from it"),
        (
            {
                "mounts": [{"source": "/var/lib", "path": "/opt/b", "options": ["rbind"]}],
                "files": [{"path": "/opt/b/slipway/x", **FILE}],
            },
            "os.files[0].path",
            "a second place for the folder above",
        ),
        (
            {"mounts": [{"source": "overlay", "path": "/b", "options": ["upperdir=/var/run/cluster-api"]}]},
            "os.mounts[0].options[0]",
            "a layer of a filesystem",
        ),
        (
            {
                "mounts": [{"source": "/run", "path": "/mnt", "options": ["rw,bind"]}],
                "files": [{"path": "/mnt/slipway/x", **FILE}],
            },
            "os.files[0].path",
            "options in one text",
        ),
        (
            {
                "mounts": [{"source": "/run", "path": "/mnt", "type": "bind"}],
                "files": [{"path": "/mnt/slipway/x", **FILE}],
            },
            "os.files[0].path",
            "bind as the type",
        ),
        (
            {
                "links": [{"path": "/l", "target": "/srv"}],
                "mounts": [{"source": "/run", "path": "/l", "options": ["bind"]}],
                "files": [{"path": "/srv/slipway/x", **FILE}],
            },
            "os.files[0].path",
            "a mount on a link",
        ),
        (
            {
                "mounts": [{"source": "/", "path": "/mnt", "options": ["bind"]}],
                "links": [{"path": "/mnt/opt/l", "target": "/run"}],
                "files": [{"path": "/opt/l/slipway/x", **FILE}],
            },
            "os.files[0].path",
            "a link below a mount",
        ),
        (
            {
                "mounts": [
                    {
                        "source": "overlay",
                        "path": "/mnt",
                        "type": "overlay",
                        "options": ["lowerdir=/opt,upperdir=/run,workdir=/work"],
                    }
                ],
                "files": [{"path": "/mnt/slipway/x", **FILE}],
            },
            "os.files[0].path",
            "what is written into an overlay",
        ),
        (
            {
                "mounts": [{"source": "/data", "path": "/var/lib", "options": ["bind"]}],
                "files": [{"path": "/var/lib/slipway/x", **FILE}],
            },
            "os.files[0].path",
            "where the folder itself is bound from another one",
        ),
        (
            {
                "mounts": [{"source": "/data", "path": "/var/lib", "options": ["bind"]}],
                "users": [{"name": "ann", "home": "/var/lib/slipway"}],
            },
            "os.users[0].home",
            "and a home in it",
        ),
    ],
)
def test_nothing_else_leads_there(os: dict[str, Any], field: str, reason: str) -> None:
    """Links into it, and filesystems over it or of it."""
    assert reason
    assert places(os) == [field]


def test_no_folder_of_kubernetes_lies_there() -> None:
    """Whichever field holds the path."""
    engine = {"kubeadm": {"patchesDirectory": "/var/run/cluster-api/x"}}
    assert places({}, engineOptions=engine) == ["engineOptions.kubeadm.patchesDirectory"]
    discovery = {"discovery": {"file": {"path": "/etc/slipway/kubeconfig"}}}
    assert places({}, kubernetes=discovery) == ["kubernetes.discovery.file.path"]


@pytest.mark.parametrize("target", ["a/../b", "/opt/a/../b", "a" + "/a" * 64, "-x", "\\\\host\\c$\\x"])
def test_a_target_is_what_it_seems(target: str) -> None:
    """Behind a link ".." is another folder than the text says, and a UNC path may be the machine itself."""
    assert places({"links": [{"path": "/opt/l", "target": target}]}) == ["os.links[0].target"]


def test_ordinary_paths_are_taken() -> None:
    """Neighbours of the folders, links between others, and a disk for /var/lib."""
    files = ["/etc/slipway-x", "/run/x", "/var/lib/x", "/opt/link/x", "/etc/SLIPWAY/x"]
    os = {
        "files": [{"path": path, **FILE} for path in files],
        "links": [{"path": "/opt/link", "target": "../srv"}, {"path": "/opt/loop", "target": "loop"}],
        "mounts": [{"source": "/dev/sdb1", "path": "/var/lib", "options": ["defaults"]}],
    }
    assert places(os) == []


def test_two_names_of_a_file_are_one_path() -> None:
    """So that of two entries none is lost."""
    link = {"path": "/opt/l", "target": "/srv"}
    two = [{"path": path, **FILE} for path in ("/opt/l/x", "/srv/x")]
    assert places({"links": [link], "files": two}) == ["os.files[1]"]
    two = [{"path": path, **FILE} for path in ("/var/run/x", "/run/x")]
    assert places({"files": two}) == ["os.files[1]"]


def test_links_that_go_on_and_on_end() -> None:
    """As in the kernel a path goes through so many links, and is so long."""
    around = {f"/l{number}": f"/l{(number + 1) % 90}/a" for number in range(90)}
    assert canonical("/l0/x", around).count("/a") == 40
    os = ospb.OperatingSystem()
    for number in range(256):
        os.links.add(path=f"/l{number}", target=f"/l{number}/" + "a" * 2000)
    assert not list(paths.reserved(os))
