"""Users and groups. Ignition has no word for sudo and for locking, so these become a file and a mark in the hash."""

import re

from slipway.provisioners.ignition.document import Group, User
from slipway.provisioners.ignition.nodes import Nodes
from slipway.sdk import RenderContext
from slipway.v1alpha1 import os_pb2 as ospb

SUDOERS = "/etc/sudoers.d/90-slipway-users"
_SUDOERS_MODE = 0o440
# Names that mean themselves in sudoers; others would need its escapes.
_SUDOERS_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def groups(system: ospb.OperatingSystem) -> list[Group]:
    """Give the groups."""
    return [
        Group(name=group.name, gid=group.gid if group.HasField("gid") else None, system=group.system or None)
        for group in system.groups
    ]


def users(system: ospb.OperatingSystem, ctx: RenderContext) -> list[User]:
    """Give the users."""
    own_groups = {group.name for group in system.groups}
    return [_user(user, ctx, f"os.users[{index}]", own_groups=own_groups) for index, user in enumerate(system.users)]


def add_sudoers(system: ospb.OperatingSystem, ctx: RenderContext, nodes: Nodes) -> None:
    """Add the file with all users' rules for sudo."""
    rules = []
    for index, user in enumerate(system.users):
        if user.sudo and not _SUDOERS_NAME.fullmatch(user.name):
            ctx.refuse(f"os.users[{index}]", "os.users.sudo", "the user's name would have to be escaped in sudoers")
            continue
        rules += [f"{user.name} {rule}\n" for rule in user.sudo]
    if rules:
        first = next(index for index, user in enumerate(system.users) if user.sudo)
        data = "".join(rules).encode()
        nodes.add_own(SUDOERS, data, mode=_SUDOERS_MODE, where=f"os.users[{first}]", feature="os.users.sudo")


def _user(user: ospb.User, ctx: RenderContext, path: str, *, own_groups: set[str]) -> User:
    if user.ssh_authorized_keys and user.no_create_home:
        # Ignition writes the keys as the user, who may not make the home: the machine would not boot.
        ctx.refuse(path, "os.users", "Ignition writes no SSH keys for a user whose home it does not make")
    primary_group = user.primary_group
    if not primary_group and user.name in own_groups:
        # useradd does not make a group that is already there.
        primary_group = user.name
    return User(
        name=user.name,
        gecos=user.gecos if user.HasField("gecos") else None,
        # Spec 3 refuses what stands there twice, which means the same as once.
        groups=list(dict.fromkeys(user.groups)) or None,
        home_dir=user.home or None,
        # A system account has no home unless somebody logs in to it.
        no_create_home=user.no_create_home or (user.system and not user.ssh_authorized_keys) or None,
        password_hash=_password_hash(user, ctx, path),
        primary_group=primary_group or None,
        shell=user.shell or None,
        ssh_authorized_keys=list(dict.fromkeys(user.ssh_authorized_keys)) or None,
        system=user.system or None,
        uid=user.uid if user.HasField("uid") else None,
    )


def _password_hash(user: ospb.User, ctx: RenderContext, path: str) -> str | None:
    """Give the hash, behind a "!" when login by password is locked: crypt(3) gives no hash that starts so."""
    locked = user.lock_password or not user.HasField("lock_password")
    if user.HasField("password_hash"):
        value = ctx.secret(user.password_hash, f"{path}.password_hash")
        return f"!{value}" if locked else value
    return "!" if user.lock_password else None
