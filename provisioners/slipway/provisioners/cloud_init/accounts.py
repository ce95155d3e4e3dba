"""Users and groups: cloud-init's users_groups."""

import re

from slipway.provisioners.cloud_init.document import Value
from slipway.provisioners.cloud_init.raw_items import RawItems
from slipway.sdk import RenderContext
from slipway.v1alpha1 import os_pb2 as ospb

# Names that mean themselves in sudoers; others would need its escapes.
_SUDOERS_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_IMAGES_OWN = "default"
# cloud-init's names of what useradd sets, and so only for a new user.
_SHAPE = {"home": "homedir"} | {
    name: name for name in ("gecos", "shell", "primary_group", "uid", "system", "no_create_home")
}


def groups(system: ospb.OperatingSystem) -> list[Value]:
    """Give the key `groups`."""
    return [group.name for group in system.groups]


def users(system: ospb.OperatingSystem, ctx: RenderContext, raw: RawItems) -> list[Value]:
    """Give the key `users`.

    It replaces the image's own list, so the image's user is named in it unless it is to go.
    """
    own_groups = {group.name for group in system.groups}
    own = [
        [_user(user, ctx, f"os.users[{index}]", own_groups=own_groups)]
        for index, user in enumerate(system.users)
        if not _refused(user, ctx, f"os.users[{index}]", is_kept=system.default_user == ospb.DEFAULT_USER_KEEP)
    ]
    entries = raw.among("users", own)
    keep = entries and system.default_user != ospb.DEFAULT_USER_OMIT
    return ["default", *entries] if keep else entries


def _refused(user: ospb.User, ctx: RenderContext, path: str, *, is_kept: bool) -> bool:
    if user.name == _IMAGES_OWN and not is_kept:
        # Source: cloudinit/distros/ug_util.py (normalize_users_groups).
        ctx.refuse(path, "os.users", "cloud-init means the image's own user by this name, and lets it use sudo")
    elif user.ssh_authorized_keys and (user.system or user.no_create_home):
        # cloud-init gives up on the whole list of users then.
        ctx.refuse(path, "os.users", "cloud-init takes no SSH keys for a user whose home it does not make")
    elif user.sudo and not _SUDOERS_NAME.fullmatch(user.name):
        ctx.refuse(path, "os.users.sudo", "the user's name would have to be escaped in sudoers")
    elif user.name == "root" and (user.groups or _shape(user)):
        ctx.refuse(path, "os.users", "cloud-init changes only password, keys and sudo of a user that exists")
    else:
        return False
    return True


def _shape(user: ospb.User) -> dict[str, Value]:
    present = {field.name: value for field, value in user.ListFields()}
    return {key: present[name] for name, key in _SHAPE.items() if name in present}


def _user(user: ospb.User, ctx: RenderContext, path: str, *, own_groups: set[str]) -> Value:
    entry: dict[str, Value] = {"name": user.name, **_shape(user)}
    if user.name in own_groups:
        # useradd does not make a group that is already there.
        entry.setdefault("primary_group", user.name)
    if user.groups:
        entry["groups"] = list(user.groups)
    if user.HasField("password_hash"):
        # Unlike `passwd` it also reaches a user that the image has.
        entry["hashed_passwd"] = ctx.secret(user.password_hash, f"{path}.password_hash")
    if user.HasField("lock_password"):
        entry["lock_passwd"] = user.lock_password
    if user.sudo:
        # The schema of cloud-init 22.4 takes a text only; it is written behind the name as it is.
        entry["sudo"] = f"\n{user.name} ".join(user.sudo)
    if user.ssh_authorized_keys:
        entry["ssh_authorized_keys"] = list(user.ssh_authorized_keys)
    return entry
