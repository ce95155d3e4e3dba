"""What the suite reads in an Ignition config, and what it takes for unreadable there."""

import json

import pytest

from slipway.conformance.decoders import cloud_config, ignition
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb

_UNIT = "[Service]\nExecStart=/bin/run 'two words'\n[Install]\nWantedBy=multi-user.target\n"
_EVERY, _FIRST, _EARLY = statepb.START_EVERY_BOOT, statepb.START_FIRST_BOOT, statepb.START_EARLY


def test_ignition() -> None:
    """Data URLs, owners by default, and the program of an enabled unit."""
    unit = '[Service]\nExecStart=/bin/run "it all"\n[Install]\nWantedBy=multi-user.target\n'
    document = {
        "ignition": {"version": "3.3.0"},
        "storage": {"files": [{"path": "/a", "mode": 256, "contents": {"source": "data:,a%20b"}}, {"path": "/b"}]},
        "systemd": {"units": [{"name": "x.service", "enabled": True, "contents": unit}]},
    }
    state = ignition.decode(json.dumps(document).encode(), {})
    assert [(file.path, file.content.data, file.mode) for file in state.os.files] == [
        ("/a", b"a b", 0o400),
        ("/b", b"", 0o644),
    ]
    assert list(state.programs[0].argv) == ["/bin/run", "it all"]


def test_when_a_unit_of_ignition_starts() -> None:
    """On every boot, unless it says that it is for the first one; early, if it does not wait for the network."""
    network = "Wants=network-online.target\nAfter=network-online.target\n"
    for more, want in (
        (f"[Unit]\n{network}", _EVERY),
        (f"[Unit]\nConditionFirstBoot=true\n{network}", _FIRST),
        ("[Unit]\nAfter=network-online.target\n", _EARLY),
    ):
        unit = {"name": "x.service", "enabled": True, "contents": more + _UNIT}
        config = {"ignition": {"version": "3.3.0"}, "systemd": {"units": [unit]}}
        (program,) = ignition.decode(json.dumps(config).encode(), {}).programs
        assert program.start == want


@pytest.mark.parametrize(
    ("numbers", "want", "reason"),
    [
        ([1, 2], ["a", "b"], "in their order"),
        ([2, 1], ["b", "a"], "by their numbers"),
        ([0, 1], ["b", "a"], "0 is the first that is free"),
        ([None, None], ["a", "b"], "none at all"),
    ],
)
def test_partitions_of_ignition_by_number(numbers: list, want: list[str], reason: str) -> None:
    """A device is named after the number of its partition, and not after its place in the list."""
    partitions = [{"label": label, "number": number} for label, number in zip("ab", numbers, strict=True)]
    storage = {"disks": [{"device": "/dev/sdb", "partitions": partitions}]}
    document = {"ignition": {"version": "3.3.0"}, "storage": storage}
    state = ignition.decode(json.dumps(document).encode(), {})
    assert [partition.label for partition in state.os.disks[0].partitions] == want, reason


@pytest.mark.parametrize(
    ("path", "mode", "reads", "reason"),
    [
        ("/etc/sudoers.d/90-a", 0o440, True, "as sudo reads it"),
        ("/etc/sudoers.d/90-a.conf", 0o440, False, "a name with a dot"),
        ("/etc/sudoers.d/90-a~", 0o440, False, "a backup"),
        ("/etc/sudoers.d/90-a", 0o666, False, "everybody may write it"),
    ],
)
def test_rules_of_sudo_in_ignition(path: str, mode: int, reads: bool, reason: str) -> None:
    """Rules count where sudo reads them."""
    file = {"path": path, "mode": mode, "contents": {"source": "data:,a%20ALL=(ALL)%20ALL%0A"}}
    document = {"ignition": {"version": "3.3.0"}, "passwd": {"users": [{"name": "a"}]}, "storage": {"files": [file]}}
    state = ignition.decode(json.dumps(document).encode(), {})
    assert bool(state.os.users[0].sudo) == reads, reason


def test_swap_of_ignition() -> None:
    """A unit of swap space is a mount of no place, when its name is that of its device and swap.target wants it."""
    contents = "[Swap]\nWhat=/dev/a-b\nOptions=pri=5\n[Install]\nWantedBy={}\n"
    for target, name, mounts in (
        ("swap.target", "dev-a\\x2db.swap", [("/dev/a-b", "none", "swap", ["pri=5"])]),
        ("local-fs.target", "dev-a\\x2db.swap", []),
        ("swap.target", "dev-a-b.swap", []),
    ):
        unit = {"name": name, "enabled": True, "contents": contents.format(target)}
        document = {"ignition": {"version": "3.3.0"}, "systemd": {"units": [unit]}}
        state = ignition.decode(json.dumps(document).encode(), {})
        assert [(mount.source, mount.path, mount.type, list(mount.options)) for mount in state.os.mounts] == mounts


@pytest.mark.parametrize(
    ("where", "reason"),
    [("partitions", "a key that the decoder does not know"), ("users", "a key of an account"), ("", "one of its own")],
)
def test_what_is_not_read_of_ignition_is_reported(where: str, reason: str) -> None:
    """It counts as what nothing of the bundle needs, and is not left out."""
    entry = {"shouldExist": False}
    document = {
        "ignition": {"version": "3.3.0"},
        "storage": {"disks": [{"device": "/dev/sdb", "partitions": [entry | {"startMiB": 1}]}]},
        "passwd": {"users": [{"name": "a", "noLogInit": True}]},
    }
    names = {other.name for other in ignition.decode(json.dumps(document).encode(), {}).others}
    assert names == {
        "storage.disks.partitions.shouldExist", "storage.disks.partitions.startMiB", "passwd.users.noLogInit",
    }, reason  # fmt: skip
    document = (
        "#cloud-config\nusers: [{name: a, expiredate: '2030-01-01'}]\nwrite_files: [{path: /a, source: {uri: u}}]\n"
    )
    assert {other.name for other in cloud_config.decode(document.encode(), {}).others} == {
        "users.expiredate", "write_files.source",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "owners"),
    [
        ({}, ("root", "root")),
        ({"user": {"id": 1234}, "group": {"name": "staff"}}, ("1234", "staff")),
        ({"user": {"name": "1234"}, "group": {"id": 0}}, ("account 1234", "root")),
    ],
)
def test_owners_of_ignition(entry: dict, owners: tuple[str, str]) -> None:
    """A name of digits is not the number."""
    document = {"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": "/a", **entry}]}}
    (file,) = ignition.decode(json.dumps(document).encode(), {}).os.files
    assert (file.owner, file.group) == owners


@pytest.mark.parametrize(
    ("what", "source", "reason"),
    [
        ("data", "LABEL=data", "a plain label"),
        ("my\\x20data", "LABEL=my data", "a blank is escaped"),
        ("d\u00e4ta", "LABEL=d\u00e4ta", "a letter beyond ASCII is not"),
        ("d\\xc3\\xa4ta", "", "udev makes no such link"),
        ("d\\xe4ta", "", "nor one of half a letter"),
        ("my data", "", "nor one with a blank"),
    ],
)
@pytest.mark.parametrize(("after", "checked"), [("After", True), ("Before", False)])
def test_mounts_of_ignition(what: str, source: str, reason: str, after: str, *, checked: bool) -> None:
    """A device is named as udev names it, and a check counts where the mount waits for it."""
    path = f"/dev/disk/by-label/{what}"
    fsck = "systemd-fsck@dev-x.service"
    contents = f"[Unit]\nRequires={fsck}\n{after}={fsck}\n[Mount]\nWhat={path}\nWhere=/.data\n"
    unit = {"name": "\\x2edata.mount", "enabled": True, "contents": contents}
    document = {"ignition": {"version": "3.4.0"}, "systemd": {"units": [unit]}}
    (mount,) = ignition.decode(json.dumps(document).encode(), {}).os.mounts
    assert (mount.source, mount.check) == (source or path, checked), reason
