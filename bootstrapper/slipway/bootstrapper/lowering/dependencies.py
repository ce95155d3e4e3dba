"""Which items have to be lowered because something that they depend on is.

All native work of a provisioner comes before the entry point. An item therefore stays native only if everything that it
depends on is native: the user that owns it, the home directory, the mount or the linked folder that it lies in, the
file that it is a hard link to, an earlier entry for the same path, the authorities that vouch for what it downloads. (A
directory that is lowered does not take the files in it along: the runner gives it its owner and mode afterwards, and
nothing is lost.)

The user and the group root are always there, whether the spec changes them or not.
"""

import re
from collections.abc import Collection, Iterable
from typing import Any

from slipway.contract.items import Item
from slipway.v1alpha1 import os_pb2 as ospb

_TAGGED = re.compile(r"(LABEL|UUID|PARTLABEL|PARTUUID)=|/dev/disk/by-(label|uuid|partlabel|partuuid)/")
OWNED = frozenset({"os.files", "os.directories", "os.links"})


def dependents(lowered: Collection[Item], remaining: Iterable[Item]) -> list[Item]:
    """Give those of `remaining` that depend on one of `lowered`, in their order."""
    users = _names(lowered, "os.users")
    groups = _names(lowered, "os.groups") | users
    mounts = {_folder(item.message.path) for item in lowered if item.feature == "os.storage.mounts"}
    links = (item.message.path for item in lowered if item.feature == "os.links")
    places = mounts | {_folder(path) for path in (*_homes(lowered), *links)}
    paths = {item.message.path for item in lowered if item.feature in OWNED}
    devices = {
        item.message.device for item in lowered if item.feature.startswith("os.storage.") and _has(item, "device")
    }
    trust = any(item.feature == "os.trusted_certificates" for item in lowered)
    return [
        item
        for item in remaining
        if _depends(item, users, groups, mounts, places, paths, devices) or (trust and _downloads(item))
    ]


def _depends(  # noqa: PLR0913, PLR0917  # one argument for each kind of dependency
    item: Item,
    users: set[str],
    groups: set[str],
    mounts: set[str],
    places: set[str],
    paths: set[str],
    devices: set[str],
) -> bool:
    message: Any = item.message
    if item.feature in OWNED:
        return (
            message.owner in users
            or message.group in groups
            or _below(message.path, places)
            or message.path in paths
            or (item.feature == "os.links" and message.hard and message.target in paths)
        )
    if item.feature == "os.users":
        needs = [message.primary_group, *message.groups]
        return not groups.isdisjoint(needs) or any(_below(home, mounts) for home in _home(message))
    if item.feature == "os.storage.mounts":
        return _on_device(message.source, devices) or _below(message.path, mounts)
    if item.feature == "os.storage.filesystems":
        return _on_device(message.device, devices)
    if item.feature == "os.storage.swap":
        return _below(message.path, mounts)
    return False


def _on_device(source: str, devices: set[str]) -> bool:
    """Return whether a source may be one of the devices or lie on it: a label or number may be that of any."""
    if devices and _TAGGED.match(source):
        return True
    return any(source.startswith(device) for device in devices)


def _downloads(item: Item) -> bool:
    return item.feature in {"os.packages", "os.directory"} or (
        item.feature == "os.files" and item.message.HasField("remote")
    )


def _names(items: Collection[Item], feature: str) -> set[str]:
    return {item.message.name for item in items if item.feature == feature and item.message.name != "root"}


def _homes(items: Collection[Item]) -> list[str]:
    """Give the home directories of users. A file there before its user is would keep the directory root's for ever."""
    users = [item.message for item in items if item.feature == "os.users" and item.message.name != "root"]
    return [path for user in users for path in _home(user)]


def _home(user: ospb.User) -> list[str]:
    return [user.home] if user.home else [f"/home/{user.name}", f"/var/home/{user.name}"]


def _has(item: Item, name: str) -> bool:
    return name in item.message.DESCRIPTOR.fields_by_name


def _folder(path: str) -> str:
    return path.rstrip("/")


def _below(path: str, folders: set[str]) -> bool:
    """Return whether a path is one of the folders or in one, by the path's own parts: there may be many folders."""
    return path in folders or any(path[:at] in folders for at, sign in enumerate(path) if sign == "/")
