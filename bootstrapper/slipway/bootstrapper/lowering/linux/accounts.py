"""Users and groups: accounts by useradd and usermod, hashes by chpasswd from a file, rules for sudo and keys for SSH.

An existing user of the same name is changed, not replaced: keys and groups are added to those that it has. Groups are
made and changed by groupadd and groupmod.
"""

import re
from collections.abc import Iterator, Sequence

from slipway.bootstrapper.lowering.draft import PRIVATE, CannotLower, Draft
from slipway.bootstrapper.lowering.emission import each, put_file
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import needed, needed_program
from slipway.bootstrapper.lowering.runners.linux_file import ROOT as STATE
from slipway.bootstrapper.lowering.texts import refuse_control_characters
from slipway.contract.content import literal
from slipway.contract.items import Item
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb

USERS = "linux.users"
_RULES_MODE = 0o440

GROUPS = "linux.groups"

_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")


def lower_users(items: Sequence[Item], draft: Draft) -> None:
    """Make or change users in one step; emit a file for each password hash and each user's rules for sudo."""
    calls = [call for calls in each(draft, items, lambda item: list(_user_calls(item, draft))) for call in calls]
    text = script(calls, programs=["users"])
    draft.step(Rank.USERS, "users", source=items[0].message, by=USERS, script=text)


def _user_calls(item: Item, draft: Draft) -> Iterator[list[str]]:
    accounts = needed(draft.profile.accounts, item)
    user: ospb.User = item.message
    name = _checked_name(item)
    for program in ("useradd", "usermod"):
        needed_program(program, item, draft.profile)
    # A system account has no home unless a person logs in to it.
    homeless = user.no_create_home or (user.system and not user.ssh_authorized_keys)
    flags = ("M" if homeless else "m") + ("r" if user.system else "")
    for group in (user.primary_group, *user.groups):
        _check_group(item, group)
    refuse_control_characters(item, user.shell)
    yield ["account", name, user.primary_group, ",".join(user.groups), user.home, flags, *_options(user)]
    yield from _password(item, draft, name)
    if user.sudo:
        yield _sudo(item, draft, needed(accounts.sudo_directory, item))
    if user.ssh_authorized_keys:
        files = " ".join(["authorized_keys", *accounts.further_key_files])
        yield ["keys", name, files, *user.ssh_authorized_keys]
    if user.inactive:
        # The password is too old, the account has ended, and there is no time in between.
        yield [needed_program("chage", item, draft.profile), "-d", "0", "-E", "1", "-I", "0", name]


def _options(user: ospb.User) -> list[str]:
    options: list[str] = []
    if user.HasField("gecos"):
        options += ["-c", user.gecos]
    if user.HasField("shell"):
        options += ["-s", user.shell]
    if user.HasField("uid"):
        options += ["-u", str(user.uid)]
    return options


def _password(item: Item, draft: Draft, name: str) -> Iterator[list[str]]:
    user: ospb.User = item.message
    if user.HasField("password_hash"):
        needed_program("chpasswd", item, draft.profile)
        path = f"{STATE}/passwords/{name}"
        put_file(draft, item, path, _hash(user), by=USERS, mode=PRIVATE)
        yield ["password", name, path]
    if user.lock_password or not user.HasField("lock_password"):
        yield ["usermod", "-L", name]
    elif not user.HasField("password_hash"):
        yield ["usermod", "-U", name]


def _hash(user: ospb.User) -> contentpb.Content:
    if user.password_hash.WhichOneof("source") == "secret_ref":
        return contentpb.Content(segments=[contentpb.Segment(secret_ref=user.password_hash.secret_ref)])
    return literal(user.password_hash.value.encode())


def _sudo(item: Item, draft: Draft, directory: str) -> list[str]:
    user: ospb.User = item.message
    if any(rule.endswith("\\") for rule in user.sudo):
        raise CannotLower(
            item,
            "a rule for sudo ends in a backslash, which would join it to the next one",
            remedy="take it out",
            fields=["sudo"],
        )
    path = f"{directory}/90-slipway-{user.name}"
    rules = "".join(f"{user.name} {rule}\n" for rule in user.sudo)
    put_file(draft, item, path, rules.encode(), by=USERS, mode=_RULES_MODE)
    return ["rules", path]


def _check_group(item: Item, group: str) -> None:
    """Refuse a name that would fall apart in a list of groups."""
    if not all(char.isalnum() or char in "_.-$" for char in group):
        raise CannotLower(
            item,
            "a group's name holds a character that lists of groups cannot carry",
            remedy="use letters, digits, dots, dashes and underscores",
        )


def lower_groups(items: Sequence[Item], draft: Draft) -> None:
    """Make or change groups in one step."""
    text = script(each(draft, items, lambda item: _group_call(item, draft)), programs=["groups"])
    draft.step(Rank.GROUPS, "groups", source=items[0].message, by=GROUPS, script=text)


def _group_call(item: Item, draft: Draft) -> list[str]:
    for name in ("groupadd", "groupmod"):
        needed_program(name, item, draft.profile)
    group: ospb.Group = item.message
    number = str(group.gid) if group.HasField("gid") else ""
    return ["group", _checked_name(item), number, "-r" if group.system else ""]


def _checked_name(item: Item) -> str:
    """Give the name of a user or group.

    Raises:
        CannotLower: useradd or groupadd of some distribution would refuse it. Source: shadow's chkname.c.
    """
    name: str = item.message.name
    if not _NAME.fullmatch(name):
        raise CannotLower(
            item,
            "the name is not one that every distribution accepts",
            remedy="use up to 32 lower-case letters, digits, dashes and underscores; begin with a letter",
        )
    return name
