"""Users and groups as calls of the script's functions."""

import re
from collections.abc import Iterable

from slipway.provisioners.windows.quoting import call
from slipway.sdk import RenderContext
from slipway.v1alpha1 import os_pb2 as ospb

_ADMINISTRATORS = "administrators"
# What Windows does not take in account names, and what its cmdlets would take for a pattern.
_FORBIDDEN = re.compile(r'["/\\\[\]:;|=,+*?<>@\x00-\x1f]')
_LONGEST_USER, _LONGEST_GROUP = 20, 256


def accounts(system: ospb.OperatingSystem, ctx: RenderContext) -> list[str]:
    """Give the calls: groups first, then users, then who belongs to what."""
    _check_names([group.name for group in system.groups], "os.groups", _LONGEST_GROUP, ctx)
    _check_names([user.name for user in system.users], "os.users", _LONGEST_USER, ctx)
    calls = [call("Add-Group", group.name) for group in system.groups]
    for index, user in enumerate(system.users):
        calls.append(call("Add-User", user.name, user.gecos, not user.inactive))
        calls += [call("Add-Member", group, user.name) for group in user.groups]
        if user.ssh_authorized_keys and not any(group.casefold() == _ADMINISTRATORS for group in user.groups):
            why = "are for no administrator, and Windows looks for those in a profile that only a login makes"
            ctx.refuse(f"os.users[{index}].ssh_authorized_keys", "os.users", why)
        calls += [call("Add-AdministratorKey", key) for key in user.ssh_authorized_keys]
    return calls


def _check_names(names: Iterable[str], feature: str, longest: int, ctx: RenderContext) -> None:
    seen: set[str] = set()
    for index, name in enumerate(names):
        path = f"{feature}[{index}].name"
        if len(name) > longest or _FORBIDDEN.search(name) or name.endswith("."):
            ctx.refuse(path, feature, f"is no name that Windows takes: at most {longest} characters, and no signs")
        if name.casefold() in seen:
            ctx.refuse(path, feature, "is the same name as another one on Windows, where case means nothing")
        seen.add(name.casefold())
