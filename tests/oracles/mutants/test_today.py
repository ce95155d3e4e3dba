"""Defects of what an imported config becomes: the comparison with today's machine names each of them.

What is changed is what our renderer has made; today's side, its renderer and the list of differences are those of the
real test.
"""

import gzip
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest
import yaml

from tests.oracles import booted, comparison
from tests.oracles.mutants.defects import Defect, file_of, unit_of, user_of

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

_JOIN = "/run/kubeadm/kubeadm-join-config.yaml"
_LIST = "/var/lib/slipway/stage/55-install/list"


def _edit(path: str, old: str, new: str) -> Callable[[Any], None]:
    def change(tree: Any) -> None:
        file = file_of(tree, path)
        assert old in file["content"]
        file["content"] = file["content"].replace(old, new, 1)

    return change


def _swap(key: str, one: int, other: int) -> Callable[[Any], None]:
    def change(tree: Any) -> None:
        lines = tree[key]
        lines[one], lines[other] = lines[other], lines[one]

    return change


def _script(old: str, new: str) -> Callable[[Any], None]:
    """Change the script of an Ignition config, which is packed."""

    def change(tree: Any) -> None:
        contents = file_of(tree, "/etc/kubeadm.sh")["contents"]
        text = gzip.decompress(b64decode(contents["source"].partition(",")[2])).decode()
        assert old in text
        packed = gzip.compress(text.replace(old, new, 1).encode(), mtime=0)
        contents["source"] = f"data:;base64,{b64encode(packed).decode()}"

    return change


DEFECTS: Mapping[str, list[Defect]] = {
    "files-worker": [
        Defect("a file is left out", lambda t: t["write_files"].remove(file_of(t, "/etc/val/plain")), "/etc/val/plain"),
        Defect("a mode is another", lambda t: file_of(t, "/etc/val/no-zero").update(permissions="0600"), "/no-zero"),
        Defect("an owner is lost", lambda t: file_of(t, "/etc/val/user").pop("owner"), "/etc/val/user"),
        Defect("a group is lost", lambda t: file_of(t, "/etc/val/group").update(owner="root"), "/etc/val/group"),
        Defect("a blank at the end is lost", _edit("/etc/val/trailing-blanks", "blanks   ", "blanks"), "/trailing"),
        Defect("what is a secret is empty", lambda t: file_of(t, "/etc/val/from-secret").pop("content"), "from-secret"),
        Defect("a template is not filled in", _edit("/etc/val/template", "v1.34.2", "{{ version }}"), "/template"),
        Defect(
            "a file more",
            lambda t: t["write_files"].append({"path": "/etc/val/more", "content": "x\n"}),
            "/etc/val/more",
        ),
        Defect("what is appended replaces", _edit(_LIST, "a 0644 /etc/motd", "f 0644 /etc/motd"), "/etc/motd"),
        Defect("a hash of the authority is another", _edit(_JOIN, "sha256:", "sha256:0"), _JOIN),
        Defect("a taint is lost", _edit(_JOIN, "/uninitialized", "/other"), "kubeadm read other documents"),
    ],
    "users-worker": [
        Defect("a group of a user is lost", lambda t: user_of(t, "full")["groups"].remove("adm"), "user full"),
        Defect("a shell is lost", lambda t: user_of(t, "full").pop("shell"), "user full"),
        Defect("a rule for sudo is lost", lambda t: user_of(t, "active").pop("sudo"), "sudo active"),
        Defect("a key is lost", lambda t: user_of(t, "daemon").pop("ssh_authorized_keys"), "user daemon"),
        Defect("a password is open", lambda t: user_of(t, "locked").update(lock_passwd=False), "user locked"),
        Defect("the image's user stays", lambda t: t["users"].insert(0, "default"), "user debian"),
    ],
    "commands-worker": [
        Defect("two commands are swapped", _swap("runcmd", 1, 4), "call order"),
        Defect("two commands that write are swapped", _swap("runcmd", 0, 2), "/val-commands"),
        Defect("a command is left out", lambda t: t["runcmd"].remove("record again"), "record again: called 1"),
        Defect("a command runs twice", lambda t: t["runcmd"].append("record sentinel is there"), "called 1 times"),
        Defect("boot commands are swapped", _swap("bootcmd", 0, 1), "/val-boot"),
    ],
    "ignition-everything-worker": [
        Defect(
            "a file is left out",
            lambda t: t["storage"]["files"].remove(file_of(t, "/etc/val/plain")),
            "/etc/val/plain",
        ),
        Defect("a mode is another", lambda t: file_of(t, "/usr/local/bin/tool").update(mode=0o644), "/bin/tool"),
        Defect("a group is lost", lambda t: file_of(t, "/etc/val/deep/er/private").pop("group"), "/er/private"),
        Defect("a link is left out", lambda t: t["storage"]["links"].clear(), "/opt/extra/link"),
        Defect("a unit is not enabled", lambda t: unit_of(t, "val.service").pop("enabled"), "enabled val.service"),
        Defect("a unit is not masked", lambda t: unit_of(t, "apt-daily.timer").pop("mask"), "masked apt-daily.timer"),
        Defect("a drop-in is left out", lambda t: unit_of(t, "kubeadm.service")["dropins"].pop(0), "10-val.conf"),
        Defect("a home is lost", lambda t: user_of(t, "full").pop("homeDir"), "user full"),
        Defect("a command is left out", _script("echo first >> /val-commands\n", ""), "/val-commands"),
        Defect("a command is another", _script('record "$GREETING"', "record hello"), "record hello: called 0"),
    ],
}
# Each alone, since nothing that comes behind it is left to see.
ALONE: list[tuple[str, str, Callable[[Any], None]]] = [
    ("the first failure stops the commands", "commands-worker", lambda t: t["runcmd"].insert(0, "set -e")),
    ("kubeadm comes first", "commands-worker", lambda t: t["runcmd"].insert(0, t["runcmd"].pop(6))),
    ("no sentinel", "commands-worker", lambda t: t["runcmd"].__setitem__(6, t["runcmd"][6].partition(" && ")[0])),
    ("the script goes on after a failure", "ignition-everything-worker", _script("set -e\n", "set +e\nfalse\n")),
]


def _changed(name: str, changes: list[Callable[[Any], None]]) -> list[str]:
    """What no entry of the list explains, when our side has these defects."""
    ignition = booted.IMPORTED[name].ignition

    def broken(document: bytes) -> bytes:
        tree = (json.loads if ignition else yaml.safe_load)(document)
        for change in changes:
            change(tree)
        return json.dumps(tree).encode() if ignition else b"#cloud-config\n" + yaml.safe_dump(tree).encode()

    theirs, _ = booted.today_and_ours(name)
    found = comparison.everything(theirs, booted.ours_changed(name, broken))
    return [f"{one.part} {one.name}: {one.shown}" for one in comparison.unexplained(name, found)]


@cache
def shown(name: str) -> list[str]:
    """What the comparison says of a machine with all defects of a table: one boot for all of them."""
    return _changed(name, [one.change for one in DEFECTS[name]])


@pytest.mark.parametrize("name", booted.in_groups(DEFECTS))
def test_what_is_written_out_again_has_no_defect(name: str, engine: Callable[..., None]) -> None:
    """Without it the others would prove nothing."""
    engine("root-trixie", "ignition", "kubeadm-provider")
    assert _changed(name, []) == []


@pytest.mark.parametrize(
    ("name", "defect"),
    [
        pytest.param(name, one, id=f"{name}-{one}", marks=booted.of_machine(name))
        for name, table in DEFECTS.items()
        for one in table
    ],
)
def test_the_comparison_names_a_defect(name: str, defect: Defect, engine: Callable[..., None]) -> None:
    """Each of them is said by name, and no entry of the list explains it away."""
    engine("root-trixie", "ignition", "kubeadm-provider")
    assert [one for one in shown(name) if defect.shown in one]


@pytest.mark.parametrize(
    ("reason", "name", "change"),
    [pytest.param(*one, id=one[0], marks=booted.of_machine(one[1])) for one in ALONE],
)
def test_the_comparison_sees_a_defect(
    reason: str, name: str, change: Callable[[Any], None], engine: Callable[..., None]
) -> None:
    """The order of everything, and what a failure does, is a part of the machine."""
    engine("root-trixie", "ignition", "kubeadm-provider")
    assert _changed(name, [change]), reason
