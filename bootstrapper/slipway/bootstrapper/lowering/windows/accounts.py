"""Groups and users of the machine itself.

Windows has no numbers, shells and sudo for them, and takes no crypt(3) hashes. What it cannot mean is refused.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.emission import each
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import needed
from slipway.bootstrapper.lowering.windows.powershell import script
from slipway.contract.items import Item
from slipway.v1alpha1 import os_pb2 as ospb

GROUPS, USERS = "windows.groups", "windows.users"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,18}[A-Za-z0-9_-]")
_MEANINGLESS = {
    "home": "drop home: Windows makes the home directory at the first login",
    "no_create_home": "drop noCreateHome: Windows makes the home directory at the first login",
    "shell": "drop shell",
    "primary_group": "write the group among groups",
    "uid": "drop uid",
    "system": "drop system",
    "password_hash": "drop passwordHash, and log in by SSH key",
}


def lower_groups(items: Sequence[Item], draft: Draft) -> None:
    """Make local groups."""
    text = script(each(draft, items, _group), programs=["accounts"])
    draft.step(Rank.GROUPS, "groups", source=items[0].message, by=GROUPS, script=text)


def _group(item: Item) -> list[str]:
    _refuse(_impossible_group(item))
    return ["Set-Group", item.message.name]


def _impossible_group(item: Item) -> Iterator[CannotLower]:
    yield from _bad_name(item)
    for field in ("gid", "system"):
        if item.message.HasField(field):
            why = "of a group means nothing on Windows"
            yield CannotLower(item, why, remedy=f"drop {field}", fields=[field], field=field)


def lower_users(items: Sequence[Item], draft: Draft) -> None:
    """Make or change local users, whose passwords are unknown."""
    calls = [call for calls in each(draft, items, lambda item: _calls(item, draft)) for call in calls]
    text = script(calls, programs=["accounts"])
    draft.step(Rank.USERS, "users", source=items[0].message, by=USERS, script=text)


def _calls(item: Item, draft: Draft) -> list[list[str]]:
    user: ospb.User = item.message
    administrators = needed(draft.profile.accounts, item).administrators
    _refuse(_impossible_user(item, administrators))
    name = user.name
    calls = [["Set-User", name, user.gecos, "x" if user.inactive else ""]]
    calls += [["Add-Member", group, name] for group in user.groups]
    return calls + [["Add-Key", key] for key in user.ssh_authorized_keys]


def _impossible_user(item: Item, administrators: str) -> Iterator[CannotLower]:
    """Say of each field that Windows cannot mean why, and what to do."""
    user: ospb.User = item.message
    yield from _bad_name(item)
    present = {field.name for field, _ in user.ListFields()}
    for field, remedy in _MEANINGLESS.items():
        if field in present:
            why = "of a user means nothing on Windows"
            yield CannotLower(item, why, remedy=remedy, fields=[field], field=field)
    if user.sudo:
        remedy = f"add {administrators} to groups in its place"
        yield CannotLower(item, "Windows has no sudo", remedy=remedy, fields=["sudo"])
    if user.ssh_authorized_keys and administrators.casefold() not in {group.casefold() for group in user.groups}:
        yield CannotLower(
            item,
            "a user has no home directory for SSH keys before the first login",
            remedy=f"add {administrators} to groups: their keys are kept elsewhere",
        )


def _refuse(refusals: Iterable[CannotLower]) -> None:
    """Refuse an item for all that was found in it.

    Raises:
        CannotLower: something was.
    """
    each_of_it = list(refusals)
    if each_of_it:
        each_of_it[0].others += each_of_it[1:]
        raise each_of_it[0]


def _bad_name(item: Item) -> Iterator[CannotLower]:
    if not _NAME.fullmatch(item.message.name):
        yield CannotLower(
            item,
            "the name is not one that every Windows accepts",
            remedy="use 2 to 20 letters, digits, dots, dashes and underscores, beginning with a letter",
        )
