"""Real Ignition: what it leaves of a config, and that its parsers and its engine refuse what they must."""

import json

import pytest

from tools.oracles import fakes, finding, ignition
from tools.oracles.failures import EngineBroken
from tools.oracles.machine_state import Kind

pytestmark = pytest.mark.engine

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDm0t1sCzYt8Wn2o7f4dJ1c2Jr3g9m2jv4b7x0yqg3mB ops@example"
UNIT = "[Service]\nType=oneshot\nExecStart=kubeadm init 'a b'\nExecStart=/bin/sh -c 'echo ok > /run/ok'\n"
INSTALL = "[Install]\nWantedBy=multi-user.target\n"


def config(*, version="3.3.0", unit=UNIT + INSTALL, **file):
    """A config with one user, one file (keywords replace its keys) and one enabled unit."""
    entry = {"path": "/etc/val/a.conf", "mode": 0o640, "group": {"name": "daemon"}}
    entry |= {"contents": {"source": "data:,hello%0A"}} | file
    if version.startswith("2."):
        entry["filesystem"] = "root"
    return json.dumps(
        {
            "ignition": {"version": version},
            "passwd": {"users": [{"name": "ops", "groups": ["sudo"], "sshAuthorizedKeys": [KEY]}]},
            "storage": {"files": [entry]},
            "systemd": {"units": [{"name": "val.service", "enabled": True, "contents": unit}]},
        }
    ).encode()


@pytest.mark.parametrize("version", ["3.3.0", "3.0.0", "2.3.0"])
def test_machine_after_first_boot(engine, version):
    """A config leaves its file, user and enabled unit; a 2.3 one by way of Ignition's own translation."""
    engine("ignition")
    state = ignition.run(config(version=version), extra_files=fakes.command("kubeadm"), start=("val.service",))
    node = state.files["/etc/val/a.conf"]
    assert (node.kind, node.mode, node.owner, node.group) == (Kind.FILE, 0o640, "root", "daemon")
    assert state.content("/etc/val/a.conf") == b"hello\n"
    assert (state.users["ops"].groups, state.users["ops"].ssh_keys) == ({"sudo"}, {KEY})
    assert state.enabled_units == {"val.service (multi-user.target.wants)"}
    assert [call.argv for call in state.calls] == [("kubeadm", "init", "a b")]
    assert state.content("/run/ok") == b"ok\n"
    assert (state.status, state.findings) == ("done", ())


def test_nothing_but_the_config_changes(engine):
    """An empty config leaves no path: what the engine does by itself is no result."""
    engine("ignition")
    state = ignition.run(b'{"ignition": {"version": "3.3.0"}}')
    assert (dict(state.files), dict(state.run), dict(state.users), state.removed) == ({}, {}, {}, frozenset())


def test_unit_stops_at_the_first_failure(engine):
    """A service's later commands do not run after one that failed."""
    engine("ignition")
    files = fakes.command("kubeadm", statuses=[1])
    state = ignition.run(config(), extra_files=files, start=("val.service",))
    assert [call.status for call in state.calls] == [1]
    assert "/run/ok" not in state.run


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (config(group={"name": "nobody-knows"}), "an unknown owner is found by the engine only"),
        (config(path="/etc/passwd"), "an existing file without overwrite is found by the engine only"),
    ],
)
def test_engine_finds_what_parsers_miss(engine, broken, reason):
    """The run fails where the parser is content: a parser alone is no proof."""
    engine("ignition")
    assert finding.errors(ignition.validate(broken)) == []
    state = ignition.run(broken)
    assert state.status == "error", reason
    assert finding.errors(state.findings), reason


@pytest.mark.parametrize("version", ["3.0.0", "3.3.0", "3.4.0", "3.5.0", "3.6.0", "2.3.0"])
def test_parser_takes_each_spec(engine, version):
    """Each spec version that we may emit has a parser here."""
    engine("ignition-parsers")
    assert finding.errors(ignition.validate(config(version=version))) == []


@pytest.mark.parametrize(
    ("broken", "words", "reason"),
    [
        (config(path="etc/x"), "not absolute", "a relative path"),
        (config(version="3.9.0"), "version", "a version that does not exist"),
        (config()[:-1], "end of json", "cut off"),
        (config(mode="0640"), "mode of type int", "a mode as text"),
        (config(contents={"source": "data:;base64,%%"}), "", "broken data URL"),
        (config(version="2.3.0", path="etc/x"), "absolute", "the old parser, too"),
    ],
)
def test_parser_refuses(engine, broken, words, reason):
    """A broken config is refused with the parser's own words."""
    engine("ignition-parsers")
    found = finding.errors(ignition.validate(broken))
    assert any(words in one.message.lower() for one in found), reason


def test_unit_without_install_section_is_a_warning(engine):
    """The commonest reason for a unit that never starts is reported, though it is no error."""
    engine("ignition-parsers")
    assert any("no install section" in one.message for one in ignition.validate(config(unit=UNIT)))


def test_block_devices_are_refused(engine):
    """The harness itself refuses a config that would go for disks, before anything runs."""
    engine("ignition")
    document = json.loads(config())
    document["storage"]["filesystems"] = [{"device": "/dev/vda", "format": "ext4", "wipeFilesystem": True}]
    config_with_disks = json.dumps(document).encode()
    with pytest.raises(EngineBroken, match=r"storage\.filesystems"):
        ignition.run(config_with_disks)
    state = ignition.run(config_with_disks, leave_out_disks=True)
    assert state.content("/etc/val/a.conf") == b"hello\n"
    assert [one.where for one in state.findings] == ["storage.filesystems"]


def test_butane(engine):
    """Butane's own translator makes a config of its document, and refuses a key that it does not know."""
    engine("ignition-parsers")
    good = b"variant: fcos\nversion: 1.4.0\nstorage:\n  files:\n  - {path: /etc/x, contents: {inline: y}}\n"
    made, found = ignition.butane(good)
    assert json.loads(made)["ignition"]["version"] == "3.3.0"
    assert finding.errors(found) == []
    made, found = ignition.butane(good.replace(b"1.4.0", b"9.9.9"))
    assert made == b""
    assert finding.errors(found)
