"""Users, groups and the rules of sudo."""

from typing import Any

import pytest

from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.provisioners.ignition.configs import config, content


def _password(text: str) -> secretpb.SecretValue:
    return secretpb.SecretValue(value=text)


@pytest.mark.parametrize(
    ("fields", "expected", "reason"),
    [
        ({}, {}, "Ignition locks new users by itself"),
        ({"lock_password": True}, {"passwordHash": "!"}, "an image's user gets locked"),
        ({"password_hash": _password("$6$x")}, {"passwordHash": "!$6$x"}, "unset means locked"),
        ({"password_hash": _password("$6$x"), "lock_password": False}, {"passwordHash": "$6$x"}, "unlocked"),
        ({"system": True}, {"system": True, "noCreateHome": True}, "a system account has no home"),
        (
            {"system": True, "ssh_authorized_keys": ["k"]},
            {"system": True, "sshAuthorizedKeys": ["k"]},
            "keys need a home",
        ),
        (
            {"gecos": "A", "home": "/h", "shell": "/s", "primary_group": "g", "groups": ["x"], "uid": 0},
            {"gecos": "A", "homeDir": "/h", "shell": "/s", "primaryGroup": "g", "groups": ["x"], "uid": 0},
            "all the rest",
        ),
    ],
)
def test_users(fields: dict[str, Any], expected: dict[str, Any], reason: str) -> None:
    """Users are Ignition's, a lock is a mark in the hash."""
    seen = config(ospb.OperatingSystem(users=[ospb.User(name="ops", **fields)]))["passwd"]["users"]
    assert seen == [{"name": "ops"} | expected], reason


def test_groups_and_sudo() -> None:
    """Groups are Ignition's; rules for sudo are one file that sudo reads."""
    system = ospb.OperatingSystem(
        groups=[ospb.Group(name="a", gid=0), ospb.Group(name="b", system=True)],
        users=[ospb.User(name="x", sudo=["ALL=(ALL) ALL", "ALL=(b) /c"]), ospb.User(name="b", sudo=["ALL=(ALL) ALL"])],
    )
    seen = config(system)
    assert seen["passwd"]["groups"] == [{"name": "a", "gid": 0}, {"name": "b", "system": True}]
    assert seen["passwd"]["users"][1]["primaryGroup"] == "b"
    (file,) = seen["storage"]["files"]
    assert (file["path"], file["mode"]) == ("/etc/sudoers.d/90-slipway-users", 0o440)
    assert content(file["contents"]) == b"x ALL=(ALL) ALL\nx ALL=(b) /c\nb ALL=(ALL) ALL\n"
