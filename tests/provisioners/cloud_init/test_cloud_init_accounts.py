"""Users, groups, and the user that the image has."""

from typing import Any

import pytest

from slipway.sdk import testing
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.provisioners.cloud_init.documents import document, refusals


def test_a_user_with_everything() -> None:
    """Every field of a user reaches cloud-init under its own name."""
    user = ospb.User(
        name="ops",
        gecos="Ops: nobody",
        home="/srv/ops",
        shell="/bin/bash",
        primary_group="adm",
        groups=["sudo", "yes"],
        uid=1234,
        password_hash=secretpb.SecretValue(secret_ref=secretpb.SecretReference(name="pw", key="ops")),
        lock_password=False,
        sudo=["ALL=(ALL) NOPASSWD:ALL", "ALL=(root) /bin/ls"],
        ssh_authorized_keys=["ssh-ed25519 AAAA a: b # c"],
    )
    of = testing.bundle(ospb.OperatingSystem(users=[user]), secrets=[testing.secret("pw", "ops", b"$6$salt$hash")])
    assert document(of)["users"] == [
        "default",
        {
            "name": "ops",
            "gecos": "Ops: nobody",
            "homedir": "/srv/ops",
            "shell": "/bin/bash",
            "primary_group": "adm",
            "groups": ["sudo", "yes"],
            "uid": 1234,
            "hashed_passwd": "$6$salt$hash",
            "lock_passwd": False,
            "sudo": "ALL=(ALL) NOPASSWD:ALL\nops ALL=(root) /bin/ls",
            "ssh_authorized_keys": ["ssh-ed25519 AAAA a: b # c"],
        },
    ]


@pytest.mark.parametrize(
    ("default", "names", "expected", "reason"),
    [
        (None, ["a"], ["default", {"name": "a"}], "unset: it stays"),
        (ospb.DEFAULT_USER_KEEP, ["a"], ["default", {"name": "a"}], "it stays"),
        (ospb.DEFAULT_USER_OMIT, ["a"], [{"name": "a"}], "it goes"),
        (ospb.DEFAULT_USER_OMIT, [], None, "it goes only when the spec names users"),
        (None, [], None, "nothing is said"),
    ],
)
def test_the_images_own_user(default: Any, names: list[str], expected: Any, reason: str) -> None:
    """cloud-init drops the image's user from a list that does not name it."""
    system = ospb.OperatingSystem(users=[ospb.User(name=name) for name in names], default_user=default)
    assert document(system).get("users") == expected, reason


def test_the_image_s_own_user_may_be_changed() -> None:
    """An imported config names it and says so by the field for it; then cloud-init means what the config means."""
    users = [ospb.User(name="default", shell="/bin/sh")]
    system = ospb.OperatingSystem(users=users, default_user=ospb.DEFAULT_USER_KEEP)
    assert document(system)["users"] == ["default", {"name": "default", "shell": "/bin/sh"}]


def test_a_user_with_a_group_of_its_own_name() -> None:
    """Useradd fails when the group is there already, unless it is told to take it."""
    system = ospb.OperatingSystem(groups=[ospb.Group(name="ops")], users=[ospb.User(name="ops")])
    assert document(system)["groups"] == ["ops"]
    assert document(system)["users"][1]["primary_group"] == "ops"


@pytest.mark.parametrize(
    ("user", "reason"),
    [
        (ospb.User(name="a", system=True, ssh_authorized_keys=["k"]), "no home, so no place for keys"),
        (ospb.User(name="a", no_create_home=True, ssh_authorized_keys=["k"]), "no home, so no place for keys"),
        (ospb.User(name="a b", sudo=["ALL"]), "a blank in sudoers"),
        (ospb.User(name="default"), "the image's own user, with sudo"),
        (ospb.User(name="root", shell="/bin/false"), "root is there already"),
        (ospb.User(name="root", groups=["adm"]), "root is there already"),
    ],
)
def test_users_that_cloud_init_gets_wrong_are_refused(user: ospb.User, reason: str) -> None:
    """What cloud-init would ignore, or stumble over, is refused so that it is lowered."""
    assert refusals(ospb.OperatingSystem(users=[ospb.User(name="ok"), user])) == ["os.users[1]"], reason


def test_roots_keys_are_native() -> None:
    """Keys and password of a user that exists are changed by cloud-init."""
    system = ospb.OperatingSystem(users=[ospb.User(name="root", ssh_authorized_keys=["k"])])
    assert document(system)["users"][1] == {"name": "root", "ssh_authorized_keys": ["k"]}
