"""The operating system's items as calls of the script's functions, in the order that the contract says.

Names and paths are those of Windows, where case means nothing and both slashes are one; the computer's name is the
kubelet's as well.
"""

import re
from collections.abc import Iterable, Iterator

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from slipway.contract.errors import BundleInvalid, Violation
from slipway.contract.grammars import is_windows_path
from slipway.contract.times import windows_time_zone
from slipway.provisioners.windows.script import call, encoded, quoted
from slipway.sdk import RenderContext
from slipway.v1alpha1 import os_pb2 as ospb

_GROUP_AND_OTHERS = 0o077
_OWNERS = frozenset({"root", "Administrators"})
_ADMINISTRATORS = "administrators"
# What Windows does not take in account names, and what its cmdlets would take for a pattern.
_FORBIDDEN = re.compile(r'["/\\\[\]:;|=,+*?<>@\x00-\x1f]')
_LONGEST_USER, _LONGEST_GROUP = 20, 256
_COMPUTER_NAME = re.compile(r"(?![0-9]{1,15}$)[A-Za-z0-9]([A-Za-z0-9-]{0,13}[A-Za-z0-9])?")


def calls(system: ospb.OperatingSystem, ctx: RenderContext) -> list[str]:
    """Give one statement an item. Accounts come before the files that they may own."""
    check_paths(system, ctx)
    result = accounts(system, ctx)
    for index, root in enumerate(system.trusted_certificates):
        result += _authorities(root, f"os.trusted_certificates[{index}].certificate", ctx)
    if system.HasField("ntp"):
        result.append(_time_sync(system.ntp, ctx))
    for index, folder in enumerate(system.directories):
        owner = _owner(folder.owner, folder.group, f"os.directories[{index}]", "os.directories", ctx)
        result.append(call("Add-Folder", normal(folder.path), owner, _protected(folder.mode)))
    for index, file in enumerate(system.files):
        path = f"os.files[{index}]"
        owner = _owner(file.owner, file.group, path, "os.files", ctx)
        data = encoded(ctx.content(file.content, f"{path}.content"))
        result.append(call("Write-File", normal(file.path), data, owner, _protected(file.mode)))
    return result


def zone(system: ospb.OperatingSystem, ctx: RenderContext) -> str | None:
    """Give Windows' name of the time zone, or None when nobody said one."""
    if not system.HasField("time_zone"):
        return None
    name = windows_time_zone(system.time_zone.name)
    if name is None:
        ctx.refuse("os.time_zone.name", "os.time_zone", "is a time zone that Windows has no name for")
    return name


def zone_call(name: str) -> str:
    """Give the statement that sets a time zone by Windows' name."""
    return f"Set-TimeZone -Id {quoted(name)}"


def _protected(mode: int) -> bool:
    return not mode & _GROUP_AND_OTHERS


def _owner(owner: str, group: str, path: str, feature: str, ctx: RenderContext) -> str:
    """Give the owner to set, or "" for the Administrators, who own what the script makes."""
    if owner.isdecimal():
        ctx.refuse(f"{path}.owner", feature, "is a number, and Windows knows accounts by name")
    if group not in _OWNERS:
        ctx.refuse(f"{path}.group", feature, "is a group that would own it, and on Windows no group does: write root")
    return "" if owner in _OWNERS else owner


def _authorities(root: ospb.TrustedCertificate, path: str, ctx: RenderContext) -> Iterator[str]:
    try:
        certificates = x509.load_pem_x509_certificates(ctx.content(root.certificate, path))
    except ValueError:
        raise BundleInvalid(
            "a certificate cannot be read", violations=[Violation(path, "must be certificates in PEM")]
        ) from None
    return (call("Add-Authority", encoded(certificate.public_bytes(Encoding.DER))) for certificate in certificates)


def _time_sync(ntp: ospb.Ntp, ctx: RenderContext) -> str:
    if ntp.HasField("enabled") and not ntp.enabled:
        if ntp.servers:
            ctx.refuse("os.ntp.servers", "os.ntp.servers", "are given although time synchronisation is turned off")
        return "Disable-TimeSync"
    # 0x8: asked as a client.
    return call("Enable-TimeSync", " ".join(f"{server},0x8" for server in ntp.servers))


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


def computer_name(system: ospb.OperatingSystem, ctx: RenderContext) -> str | None:
    """Give the name, or None when nobody said one. Windows cuts longer names off, so they are refused."""
    if not system.HasField("hostname"):
        return None
    name = system.hostname.name.value or "".join(segment.text for segment in system.hostname.name.segments)
    if not _COMPUTER_NAME.fullmatch(name):
        why = "is no name that Windows keeps: at most 15 letters, digits and hyphens, not digits alone, no domain"
        ctx.refuse("os.hostname.name", "os.hostname", why)
    return name


def normal(path: str) -> str:
    """Give the path with backslashes, as every program of Windows takes it."""
    return path.replace("/", "\\")


def check_paths(system: ospb.OperatingSystem, ctx: RenderContext) -> None:
    """Refuse paths without a drive, and two items for what Windows takes for one path."""
    seen: dict[str, str] = {}
    paths = [("os.directories", index, directory.path) for index, directory in enumerate(system.directories)]
    paths += [("os.files", index, file.path) for index, file in enumerate(system.files)]
    for feature, index, path in paths:
        where = f"{feature}[{index}].path"
        if not is_windows_path(path):
            ctx.refuse(where, feature, "is no path of Windows: begin it with a drive, as in C:\\")
        first = seen.setdefault(normal(path).rstrip("\\").casefold(), where)
        if first != where:
            ctx.refuse(where, feature, f"is the same path as {first} on Windows, where case means nothing")
