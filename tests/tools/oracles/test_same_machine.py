"""cloud-init and Ignition, run for real, leave the same machine for documents that mean the same."""

import base64
import dataclasses
import json

import pytest

from tools.oracles import cloud_init, ignition, tree_diff
from tools.oracles.machine_state import Kind, MachineState, Node
from tools.oracles.tree_diff import Allowed, Part

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDm0t1sCzYt8Wn2o7f4dJ1c2Jr3g9m2jv4b7x0yqg3mB ops@example"
UNIT = b"[Service]\nType=oneshot\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"
FILES = [
    ("/etc/val/deep/er/b.conf", b"big " * 500, 0o400, "root", "root"),
    ("/etc/val/a.conf", b"a\x00\xff\n", 0o640, "root", "daemon"),
    ("/opt/bin/run.sh", b"#!/bin/sh\nexit 0\n", 0o755, "root", "root"),
    ("/var/lib/ops/o.txt", b"mine\n", 0o600, "root", "root"),
    ("/etc/sudoers.d/ops", b"# ours\nops  ALL=(ALL) NOPASSWD:ALL\n", 0o440, "root", "root"),
]
UNIT_FILE = ("/etc/systemd/system/val.service", UNIT, 0o644, "root", "root")


def b64(content):
    return base64.b64encode(content).decode()


def cloud_config(files):
    entries = [
        {"path": path, "content": b64(content), "encoding": "b64", "permissions": f"{mode:04o}",
         "owner": f"{owner}:{group}", "defer": True}
        for path, content, mode, owner, group in [*files, UNIT_FILE]
    ]  # fmt: skip
    user = {
        "name": "ops",
        "groups": "sudo",
        "shell": "/bin/bash",
        "lock_passwd": True,
        "ssh_authorized_keys": [KEY],
        "sudo": "ALL=(ALL) NOPASSWD:ALL",  # Once more what the file says, the way cloud-init would have it.
    }
    document = {"users": [user], "write_files": entries, "runcmd": [["systemctl", "enable", "val.service"]]}
    return b"#cloud-config\n" + json.dumps(document).encode()


def ignition_config(files):
    entries = [
        {"path": path, "mode": mode, "user": {"name": owner}, "group": {"name": group},
         "contents": {"source": f"data:;base64,{b64(content)}"}}
        for path, content, mode, owner, group in files
    ]  # fmt: skip
    user = {"name": "ops", "groups": ["sudo"], "shell": "/bin/bash", "sshAuthorizedKeys": [KEY]}
    unit = {"name": "val.service", "enabled": True, "contents": UNIT.decode()}
    return json.dumps(
        {
            "ignition": {"version": "3.3.0"},
            "passwd": {"users": [user]},
            "storage": {"files": entries},
            "systemd": {"units": [unit]},
        }
    ).encode()


@pytest.mark.engine
def test_same_documents_same_machine(engine):
    """The same files, user, key, sudo rule and enabled unit: no difference beyond the engines' own."""
    engine("root-trixie", "ignition")
    left, right = cloud_init.run(cloud_config(FILES)), ignition.run(ignition_config(FILES))
    assert (left.status, right.status) == ("done", "done")
    assert tree_diff.compare(left, right, allowed=tree_diff.standing()) == []
    assert tree_diff.unused(left, right, allowed=tree_diff.standing()) == []
    assert {path for path, *_ in FILES} <= left.files.keys()


@pytest.mark.engine
def test_other_documents_other_machine(engine):
    """One mode, one byte and one missing file apart: each is found, and nothing else."""
    engine("root-trixie", "ignition")
    first, second, third, *_ = FILES
    other = [(*first[:2], 0o644, *first[3:]), (second[0], b"big", *second[2:]), *FILES[3:]]
    found = tree_diff.compare(
        cloud_init.run(cloud_config(FILES)),
        ignition.run(ignition_config(other)),
        allowed=tree_diff.standing(),
    )
    assert {one.name for one in found} == {first[0], second[0], third[0], "/opt/bin"}


NODE = Node(Kind.FILE, 0o644, "root", "root", b"x")
STATE = MachineState(
    engine="a", status="done", files={"/f": NODE}, groups={"g": frozenset({"u"})},
    sudo_rules=frozenset({"r"}), enabled_units=frozenset({"e"}), masked_units=frozenset({"m"}),
    removed=frozenset({"/gone"}), hostname="h",
)  # fmt: skip


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"files": {}}, Part.FILE),
        ({"files": {"/f": dataclasses.replace(NODE, mode=0o600)}}, Part.FILE),
        ({"files": {"/f": dataclasses.replace(NODE, owner="u")}}, Part.FILE),
        ({"files": {"/f": dataclasses.replace(NODE, content=b"y")}}, Part.FILE),
        ({"files": {"/f": Node(Kind.LINK, 0o644, "root", "root", target="/x")}}, Part.FILE),
        ({"run": {"/run/s": NODE}}, Part.RUN),
        ({"groups": {"g": frozenset()}}, Part.GROUP),
        ({"sudo_rules": frozenset()}, Part.SUDO),
        ({"enabled_units": frozenset({"e", "f"})}, Part.ENABLED),
        ({"disabled_units": frozenset({"d"})}, Part.DISABLED),
        ({"masked_units": frozenset()}, Part.MASKED),
        ({"removed": frozenset()}, Part.REMOVED),
        ({"hostname": "i"}, Part.HOSTNAME),
    ],
)
def test_each_part_is_compared(change, part):
    """A change of any part of a state is one difference of that part."""
    assert [difference.part for difference in tree_diff.compare(STATE, dataclasses.replace(STATE, **change))] == [part]
    assert tree_diff.compare(STATE, STATE) == []


def test_allowed_differences():
    """An allowance takes away its own difference only, for its own engines only; an unused one is seen."""
    other = dataclasses.replace(STATE, engine="b", files={}, hostname="i")
    allowed = [
        Allowed(Part.FILE, "/f", "because", frozenset({"a", "b"})),
        Allowed(Part.HOSTNAME, "*", "for others", frozenset({"a", "c"})),
        Allowed(Part.FILE, "/other", "for nothing"),
    ]
    assert [difference.part for difference in tree_diff.compare(STATE, other, allowed=allowed)] == [Part.HOSTNAME]
    assert [rule.name for rule in tree_diff.unused(STATE, other, allowed=allowed)] == ["/other"]


def test_what_only_one_machine_may_have():
    """An allowance for one engine's own is none for the other's, nor for what both have and is not the same."""
    other = dataclasses.replace(STATE, engine="b", files={})
    allowed = [Allowed(Part.FILE, "/f", "because", only="a")]
    assert tree_diff.compare(STATE, other, allowed=allowed) == []
    assert tree_diff.compare(other, STATE, allowed=allowed) == []
    changed = dataclasses.replace(other, files={"/f": dataclasses.replace(NODE, mode=0o600)})
    reverse = (dataclasses.replace(STATE, files={}), dataclasses.replace(other, files={"/f": NODE}))
    for left, right in ((STATE, changed), reverse):
        assert [difference.name for difference in tree_diff.compare(left, right, allowed=allowed)] == ["/f"]


def test_a_membership_that_may_differ():
    """An allowance for one member is none for another one, nor for a group that both do not have."""
    allowed = [Allowed(Part.GROUP, "*", "because", member="u")]
    other = dataclasses.replace(STATE, engine="b", groups={})
    assert tree_diff.compare(STATE, other, allowed=allowed) == []
    more = dataclasses.replace(STATE, groups={"g": frozenset({"u", "v"})})
    new = dataclasses.replace(STATE, groups={"g": frozenset()}, group_ids={"g": 1000})
    for left in (more, new):
        assert [difference.name for difference in tree_diff.compare(left, other, allowed=allowed)] == ["g"]
