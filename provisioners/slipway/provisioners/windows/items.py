"""The operating system's items as calls of the script's functions, in the order that the contract says."""

from collections.abc import Iterator

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from slipway.contract.errors import BundleInvalid, Violation
from slipway.contract.windows_time_zones import windows_time_zone
from slipway.provisioners.windows.accounts import accounts
from slipway.provisioners.windows.paths import check_paths, normal
from slipway.provisioners.windows.quoting import call, encoded, quoted
from slipway.sdk import RenderContext
from slipway.v1alpha1 import os_pb2 as ospb

_GROUP_AND_OTHERS = 0o077
_ADMINISTRATORS = frozenset({"root", "Administrators"})


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
    if group not in _ADMINISTRATORS:
        ctx.refuse(f"{path}.group", feature, "is a group that would own it, and on Windows no group does: write root")
    return "" if owner in _ADMINISTRATORS else owner


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
