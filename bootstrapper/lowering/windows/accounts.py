"""Groups and users of the machine itself.

Windows has no numbers, shells and sudo for them, and takes no crypt(3) hashes. What it can not mean is refused.
"""

import re
from collections.abc import Sequence

from bootstrapper.lowering.draft import CannotLower, Draft
from bootstrapper.lowering.emission import each
from bootstrapper.lowering.order import Rank
from bootstrapper.lowering.profile_part import needed
from bootstrapper.lowering.windows.powershell import script
from services.contract.walk import Item
from slipway.v1alpha1 import os_pb2 as ospb

GROUPS, USERS = "windows.groups", "windows.users"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,18}[A-Za-z0-9_-]")
_MEANINGLESS = {
    "home": "drop it: Windows makes the home directory at the first login",
    "no_create_home": "drop it: Windows makes the home directory at the first login",
    "shell": "drop it",
    "primary_group": "write the group among groups",
    "uid": "drop it",
    "system": "drop it",
    "password_hash": "drop it, and log in by SSH key",
}


def lower_groups(items: Sequence[Item], draft: Draft) -> None:
    """Make local groups."""
    text = script(each(draft, items, _group), programs=["accounts"])
    draft.step(Rank.GROUPS, "groups", source=items[0].message, by=GROUPS, script=text)


def _group(item: Item) -> list[str]:
    for field in ("gid", "system"):
        if item.message.HasField(field):
            raise CannotLower(item, f"{field} of a group means nothing on Windows", remedy="drop it")
    return ["Set-Group", _checked_name(item)]


def lower_users(items: Sequence[Item], draft: Draft) -> None:
    """Make or change local users, whose passwords nobody knows."""
    calls = [call for calls in each(draft, items, lambda item: _calls(item, draft)) for call in calls]
    text = script(calls, programs=["accounts"])
    draft.step(Rank.USERS, "users", source=items[0].message, by=USERS, script=text)


def _calls(item: Item, draft: Draft) -> list[list[str]]:
    user: ospb.User = item.message
    present = {field.name for field, _ in user.ListFields()}
    name = _checked_name(item)
    administrators = needed(draft.profile.accounts, item).administrators
    for field, remedy in _MEANINGLESS.items():
        if field in present:
            raise CannotLower(item, f"{field} of a user means nothing on Windows", remedy=remedy)
    if user.sudo:
        raise CannotLower(item, "Windows has no sudo", remedy=f"add {administrators} to groups in its place")
    calls = [["Set-User", name, user.gecos, "x" if user.inactive else ""]]
    calls += [["Add-Member", group, name] for group in user.groups]
    if user.ssh_authorized_keys and administrators.casefold() not in {group.casefold() for group in user.groups}:
        raise CannotLower(
            item,
            "a user has no home directory for SSH keys before the first login",
            remedy=f"add {administrators} to groups: their keys are kept elsewhere",
        )
    return calls + [["Add-Key", key] for key in user.ssh_authorized_keys]


def _checked_name(item: Item) -> str:
    name: str = item.message.name
    if not _NAME.fullmatch(name):
        raise CannotLower(
            item,
            "the name is not one that every Windows accepts",
            remedy="use 2 to 20 letters, digits, dots, dashes and underscores, beginning with a letter",
        )
    return name
