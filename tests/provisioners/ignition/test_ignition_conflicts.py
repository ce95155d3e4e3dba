"""Pairs of entries that Ignition refuses: none of them reaches a config, and each is refused by its field."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from slipway.sdk import testing
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.provisioners.ignition.configs import UNIT, config, refusals
from tools.oracles import ignition
from tools.oracles.finding import Severity

FOLDER = "/etc/systemd/system"
DROP_IN = {"name": "10.conf", "contents": "[Service]\nA=b\n"}
OWN = ospb.SystemdUnit(name="own.service", contents=UNIT)
CHANGED = ospb.SystemdUnit(name="other.service", drop_ins=[ospb.SystemdDropIn(**DROP_IN)])
DATA = ospb.Filesystem(device="/dev/sdb1", format="ext4")
PLAIN = {"owner": "root", "group": "root"}


def _disk(*labels: str) -> ospb.Disk:
    parts = [ospb.Partition(label=label, size_mib=9) for label in labels]
    return ospb.Disk(device="/dev/sdb", overwrite=True, partitions=parts)


def _of(**parts: Any) -> ospb.OperatingSystem:
    return ospb.OperatingSystem(**parts)


PAIRS = {
    "file, unit": (_of(files=[testing.file(f"{FOLDER}/own.service", b"")], systemd_units=[OWN]), "os.files[0]"),
    "folder, unit": (
        _of(directories=[{"path": f"{FOLDER}/own.service", "mode": 0o755, **PLAIN}], systemd_units=[OWN]),
        "os.directories[0]",
    ),
    "link, unit": (
        _of(links=[{"path": f"{FOLDER}/own.service", "target": "x", **PLAIN}], systemd_units=[OWN]),
        "os.links[0]",
    ),
    "file, masked unit": (
        _of(files=[testing.file(f"{FOLDER}/m.service", b"")], systemd_units=[{"name": "m.service", "masked": True}]),
        "os.files[0]",
    ),
    "file, drop-in": (
        _of(files=[testing.file(f"{FOLDER}/other.service.d/10.conf", b"")], systemd_units=[CHANGED]),
        "os.files[0]",
    ),
    "file, the entry point": (_of(files=[testing.file(f"{FOLDER}/slipway-bootstrap.service", b"")]), "os.files[0]"),
    "file, unit of a mount": (
        _of(files=[testing.file(f"{FOLDER}/srv-x.mount", b"")], mounts=[{"source": "/dev/sdb1", "path": "/srv/x"}]),
        "os.mounts[0]",
    ),
    "unit, unit of a mount": (
        _of(
            systemd_units=[{"name": "srv-x.mount", "contents": UNIT}],
            mounts=[{"source": "/dev/sdb1", "path": "/srv/x"}],
        ),
        "os.mounts[0]",
    ),
    "mounts": (_of(mounts=[{"source": f"/dev/sdb{number}", "path": "/srv/x"} for number in (1, 2)]), "os.mounts[1]"),
    "mounts, written another way": (
        _of(mounts=[{"source": "/dev/sdb1", "path": path} for path in ("/srv/x", "/srv//x/")]),
        "os.mounts[1]",
    ),
    "swaps": (_of(mounts=[{"source": "/dev/sdb1", "path": "none", "type": "swap"}] * 2), "os.mounts[1]"),
    "filesystems": (_of(filesystems=[DATA, DATA]), "os.filesystems[1]"),
    "labels": (_of(disks=[_disk("a", "a")]), "os.disks[0]"),
    "a colon in a label": (_of(disks=[_disk("a:b")]), "os.disks[0]"),
    "file, file": (_of(files=[testing.file("/etc/a", b"")] * 2), "os.files[1]"),
    "folder, file": (
        _of(directories=[{"path": "/srv/a", "mode": 0o755, **PLAIN}], files=[testing.file("/srv/a", b"")]),
        "os.files[0]",
    ),
    "folder, link": (
        _of(
            directories=[{"path": "/srv/a", "mode": 0o755, **PLAIN}],
            links=[{"path": "/srv/a", "target": "b", **PLAIN}],
        ),
        "os.links[0]",
    ),
    "below a link": (
        _of(links=[{"path": "/srv/a", "target": "/opt", **PLAIN}], files=[testing.file("/srv/a/b", b"")]),
        "os.files[0]",
    ),
    "hard link to a folder": (
        _of(
            directories=[{"path": "/srv/a", "mode": 0o755, **PLAIN}],
            links=[{"path": "/srv/b", "target": "/srv/a", "hard": True, **PLAIN}],
        ),
        "os.links[0]",
    ),
}
"""Each with the field that is refused."""

SPEC_3_ONLY = {
    "file, unit",
    "folder, unit",
    "link, unit",
    "file, masked unit",
    "file, drop-in",
    "file, the entry point",
    "file, unit of a mount",
    "mounts",
    "mounts, written another way",
    "swaps",
    "filesystems",
    "labels",
    "a colon in a label",
}
"""What spec 2.3 takes, which is that of imported configs: they keep the outcome that they have."""


@pytest.mark.parametrize("spec", ["3.3.0", "3.4.0"])
@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_is_refused_by_field(name: str, spec: str) -> None:
    """The provisioner itself refuses what Ignition would: the caller learns it before a machine boots."""
    system, path = PAIRS[name]
    assert refusals(copy.deepcopy(system), spec) == [path]


@pytest.mark.parametrize("name", sorted(SPEC_3_ONLY))
def test_spec_2_takes_what_its_own_rules_take(name: str) -> None:
    """An imported config, rendered in spec 2.3, is not worse off than with today's provider."""
    system, _ = PAIRS[name]
    assert config(copy.deepcopy(system), "2.3.0")["ignition"]["version"] == "2.3.0"


def test_what_means_the_same_twice_stands_there_once() -> None:
    """Keys, groups and kernel arguments: spec 3 refuses a second one, and nothing is lost without it."""
    system = ospb.OperatingSystem(
        users=[ospb.User(name="ops", groups=["a", "b", "a"], ssh_authorized_keys=["k", "k"], shell="/bin/sh")],
        kernel_arguments=[
            ospb.KernelArgument(argument="quiet"),
            ospb.KernelArgument(argument="quiet"),
            ospb.KernelArgument(argument="x", absent=True),
        ],
    )
    made = config(system)
    (user,) = made["passwd"]["users"]
    assert (user["groups"], user["sshAuthorizedKeys"]) == (["a", "b"], ["k"])
    assert made["kernelArguments"] == {"shouldExist": ["quiet"], "shouldNotExist": ["x"]}


def test_a_nested_config_stands_there_once() -> None:
    """Ignition refuses a config that merges the same one twice."""
    of = testing.bundle()
    content = contentpb.Content(segments=[contentpb.Segment(data=b'{"ignition":{"version":"3.3.0"}}')])
    of.extensions.extend(
        [specpb.Extension(id="ignition.slipway.dev/config", media_type="application/json", content=content)] * 2
    )
    assert refusals(of) == ["extensions[1].content"]


def test_a_mount_point_is_written_in_its_shortest_form() -> None:
    """Spec 3 refuses the path of a filesystem that is written another way."""
    system = ospb.OperatingSystem(filesystems=[DATA], mounts=[ospb.Mount(source="/dev/sdb1", path="/srv//x/")])
    (filesystem,) = config(system)["storage"]["filesystems"]
    assert filesystem["path"] == "/srv/x"


def _raw(**parts: Any) -> bytes:
    return json.dumps({"ignition": {"version": "3.3.0"}, **parts}).encode()


def _nodes(kind: str, path: str, **more: Any) -> dict[str, Any]:
    return {
        "storage": {kind: [{"path": path, **more}]},
        "systemd": {"units": [{"name": "a.service", "contents": UNIT}]},
    }


RAW = {
    "file, unit": _raw(**_nodes("files", f"{FOLDER}/a.service")),
    "folder, unit": _raw(**_nodes("directories", f"{FOLDER}/a.service")),
    "link, unit": _raw(**_nodes("links", f"{FOLDER}/a.service", target="x")),
    "file, drop-in": _raw(
        storage={"files": [{"path": f"{FOLDER}/a.service.d/10.conf"}]},
        systemd={"units": [{"name": "a.service", "dropins": [DROP_IN]}]},
    ),
    "units": _raw(systemd={"units": [{"name": "a.service", "contents": UNIT}] * 2}),
    "filesystems": _raw(storage={"filesystems": [{"device": "/dev/sdb1", "format": "ext4"}] * 2}),
    "labels": _raw(
        storage={"disks": [{"device": "/dev/sdb", "partitions": [{"number": n, "label": "a"} for n in (1, 2)]}]}
    ),
    "folder, link": _raw(storage={"directories": [{"path": "/a"}], "links": [{"path": "/a", "target": "b"}]}),
    "below a link": _raw(storage={"links": [{"path": "/a", "target": "b"}], "files": [{"path": "/a/b"}]}),
    "hard link to a folder": _raw(
        storage={"directories": [{"path": "/a"}], "links": [{"path": "/b", "target": "/a", "hard": True}]}
    ),
    "keys": _raw(passwd={"users": [{"name": "ops", "sshAuthorizedKeys": ["k", "k"]}]}),
    "groups": _raw(passwd={"users": [{"name": "ops", "groups": ["a", "a"]}]}),
    "kernel arguments": _raw(kernelArguments={"shouldExist": ["a", "a"]}),
    "nested configs": _raw(ignition={"version": "3.3.0", "config": {"merge": [{"source": "data:,"}] * 2}}),
    "the path of a filesystem": _raw(
        storage={"filesystems": [{"device": "/dev/sdb1", "format": "ext4", "path": "/a/"}]}
    ),
}
"""The rules themselves, each as the smallest config that breaks it."""


@pytest.mark.engine
@pytest.mark.parametrize("spec", ["3.3.0", "3.4.0"])
@pytest.mark.parametrize("name", RAW)
def test_the_rules_are_ignitions_own(name: str, spec: str, engine: Callable[..., None]) -> None:
    """The parser of the very spec refuses each pair: a rule of this list that it drops can be dropped here, too."""
    engine("ignition-parsers")
    raw = RAW[name].replace(b"3.3.0", spec.encode())
    assert [entry for entry in ignition.validate(raw) if entry.severity is Severity.ERROR]
