"""One bundle, rendered by cloud-init's and by Ignition's provisioner and run for real, leaves the same machine."""

from collections.abc import Callable

import pytest

from slipway.provisioners.cloud_init.render import CloudInit
from slipway.provisioners.ignition.render import IgnitionProvisioner
from slipway.sdk import testing
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tools.oracles import cloud_init, ignition, tree_diff
from tools.oracles.tree_diff import Allowed, Part

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDm0t1sCzYt8Wn2o7f4dJ1c2Jr3g9m2jv4b7x0yqg3mB ops@example"
HASH = "$6$saltsalt$" + "a" * 86
ALLOWED = [
    Allowed(Part.ENABLED, "slipway-bootstrap.service*", "Ignition runs nothing itself: the entry point is a unit"),
    Allowed(Part.FILE, "/etc/systemd/system/*slipway-bootstrap.service", "the same unit, and its enablement"),
    Allowed(Part.FILE, "/etc/sudoers.d/90-slipway-users", "cloud-init has a file of its own; the rules are compared"),
]


def _system() -> ospb.OperatingSystem:
    return ospb.OperatingSystem(
        files=[
            testing.file("/etc/val/a.conf", bytes(range(256)), mode=0o640, group="daemon"),
            testing.file("/etc/val/deep/er/b.conf", b"big " * 500, mode=0o400),
            testing.file("/opt/tool/run.sh", b"#!/bin/sh\nexit 0\n", mode=0o755),
            testing.file("/srv/new/deep/o.txt", b"mine", owner="ops", group="team", mode=0o600),
            testing.file("/home/ops/.config/x", b"\r\n", mode=0o644),
            testing.file("/etc/empty", b""),
            testing.file("/etc/slipway/run", b"exit 0\n"),
        ],
        groups=[ospb.Group(name="team"), ospb.Group(name="ops")],
        users=[
            ospb.User(
                name="ops",
                gecos="Ops",
                groups=["team"],
                shell="/bin/bash",
                uid=4321,
                sudo=["ALL=(ALL) NOPASSWD:ALL", "ALL=(root) /bin/ls"],
                ssh_authorized_keys=[KEY],
            ),
            ospb.User(
                name="open", password_hash=secretpb.SecretValue(value=HASH), lock_password=False, home="/srv/open"
            ),
            ospb.User(name="shut", password_hash=secretpb.SecretValue(value=HASH), no_create_home=True),
            ospb.User(name="daemon2", system=True, shell="/usr/sbin/nologin", primary_group="team"),
        ],
        default_user=ospb.DEFAULT_USER_OMIT,
        hostname=ospb.Hostname(name=contentpb.MachineText(value="node-7")),
    )


@pytest.mark.engine
@pytest.mark.parametrize("spec", ["3.3.0", "2.3.0"])
@pytest.mark.parametrize("root", ["trixie", "bookworm"])
def test_same_bundle_same_machine(root: str, spec: str, engine: Callable[..., None]) -> None:
    """Files, owners, modes, accounts, sudo rules and host name are the same, whoever set the machine up."""
    engine(f"root-{root}", "ignition")
    system = _system()
    left = cloud_init.run(testing.render(CloudInit(), testing.bundle(system)), root=root)
    # Ignition has no word for the image's own user; it is the one thing that is not asked of it here.
    system.ClearField("default_user")
    config = testing.render(IgnitionProvisioner(), testing.bundle(system), format_id=f"ignition/{spec}")
    right = ignition.run(config, root=root)
    assert (left.status, right.status) == ("done", "done")
    assert tree_diff.compare(left, right, allowed=[*tree_diff.standing(), *ALLOWED]) == []
    assert {file.path for file in system.files} <= left.files.keys()
    assert {"ops", "open", "shut", "daemon2"} <= left.users.keys()
