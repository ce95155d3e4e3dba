"""Every pass there is, and what can be done about the features that have none."""

from slipway.bootstrapper.lowering.linux import (
    accounts,
    boot_commands,
    containerd,
    directory,
    disks,
    files,
    kernel,
    mounts,
    packages,
    proxy,
    system,
    systemd_units,
)
from slipway.bootstrapper.lowering.passes import Lower, Pass, PassTable
from slipway.bootstrapper.lowering.windows import accounts as windows_accounts
from slipway.bootstrapper.lowering.windows import directory as windows_directory
from slipway.bootstrapper.lowering.windows import files as windows_files
from slipway.bootstrapper.lowering.windows import services as windows_services
from slipway.bootstrapper.lowering.windows import system as windows_system
from slipway.v1alpha1 import cluster_pb2 as clusterpb

_FILES = ("os.files",)

_LINUX: dict[str, tuple[str, Lower, tuple[str, ...]]] = {
    "os.commands.boot": (boot_commands.ID, boot_commands.lower, _FILES),
    "os.containerd": (containerd.ID, containerd.lower, _FILES),
    "os.proxy": (proxy.ID, proxy.lower, _FILES),
    "os.directory": (directory.ID, directory.lower, _FILES),
    "os.systemd.units": (systemd_units.ID, systemd_units.lower, _FILES),
    "os.ntp": (system.NTP, system.lower_ntp, ()),
    "os.time_zone": (system.TIME_ZONE, system.lower_time_zone, ()),
    "os.sysctls": (kernel.SYSCTLS, kernel.lower_sysctls, _FILES),
    "os.kernel.modules": (kernel.MODULES, kernel.lower_modules, _FILES),
    "os.storage.swap": (mounts.SWAP, mounts.lower_swaps, ()),
    "os.storage.disks": (disks.DISKS, disks.lower_disks, ()),
    "os.storage.filesystems": (disks.FILESYSTEMS, disks.lower_filesystems, ()),
    "os.storage.mounts": (mounts.MOUNTS, mounts.lower_mounts, ()),
    "os.users": (accounts.USERS, accounts.lower_users, _FILES),
    "os.groups": (accounts.GROUPS, accounts.lower_groups, ()),
    "os.packages": (packages.ID, packages.lower, ()),
    "os.trusted_certificates": (system.CERTIFICATES, system.lower_certificates, _FILES),
    "os.hostname": (system.HOSTNAME, system.lower_hostname, _FILES),
    "os.links": (files.LINKS, files.lower_links, ()),
    "os.directories": (files.DIRECTORIES, files.lower_directories, ()),
    "os.files": (files.FILES, files.lower_files, ()),
}
"""Feature -> id of its pass, the pass, and what it emits besides staged entries and steps: something further down."""

_WINDOWS: dict[str, tuple[str, Lower, tuple[str, ...]]] = {
    "os.containerd": (windows_services.CONTAINERD, windows_services.lower_containerd, _FILES),
    "os.proxy": (windows_services.PROXY, windows_services.lower_proxy, ()),
    "os.ntp": (windows_system.NTP, windows_system.lower_ntp, ()),
    "os.directory": (windows_directory.ID, windows_directory.lower, _FILES),
    "os.time_zone": (windows_system.TIME_ZONE, windows_system.lower_time_zone, ()),
    "os.users": (windows_accounts.USERS, windows_accounts.lower_users, ()),
    "os.groups": (windows_accounts.GROUPS, windows_accounts.lower_groups, ()),
    "os.trusted_certificates": (windows_system.CERTIFICATES, windows_system.lower_certificates, _FILES),
    "os.hostname": (windows_system.HOSTNAME, windows_system.lower_hostname, ()),
    "os.links": (windows_files.LINKS, windows_files.lower_links, ()),
    "os.directories": (windows_files.DIRECTORIES, windows_files.lower_directories, ()),
    "os.files": (windows_files.FILES, windows_files.lower_files, ()),
}

_LINUX_REMEDIES = {
    "os.kernel.arguments": "build it into the image",
}

_LINUX_ONLY = "leave it out for machines that run Windows, where it means nothing"
_WINDOWS_REMEDIES = {
    "os.storage.disks": "partition the disks in the image, or by a command of the phase pre",
    "os.storage.filesystems": "make the filesystems in the image, or by a command of the phase pre",
    "os.storage.mounts": "mount by a command of the phase pre",
    "os.storage.swap": "set the page file in the image, or by a command of the phase pre",
    "os.systemd.units": _LINUX_ONLY,
    "os.sysctls": _LINUX_ONLY,
    "os.kernel.modules": _LINUX_ONLY,
    "os.kernel.arguments": _LINUX_ONLY,
    "os.packages": "build an image that has the programs: Windows has no packages of a distribution",
    "os.commands.boot": "make it a command of the phase pre, or a scheduled task of the image",
}


def all_passes() -> PassTable:
    """Give the table of all passes."""
    families = ((clusterpb.OS_FAMILY_LINUX, _LINUX), (clusterpb.OS_FAMILY_WINDOWS, _WINDOWS))
    passes = [
        Pass(id_, feature, family, frozenset(emits), lower)
        for family, rows in families
        for feature, (id_, lower, emits) in rows.items()
    ]
    remedies = {(feature, clusterpb.OS_FAMILY_LINUX): text for feature, text in _LINUX_REMEDIES.items()} | {
        (feature, clusterpb.OS_FAMILY_WINDOWS): text for feature, text in _WINDOWS_REMEDIES.items()
    }
    return PassTable(passes, remedies)
