"""Folders that every Linux system runs from: no file or link takes their place, and few can be mounted over.

Sources: hier(7); systemd.mount(5), by which systemd itself mounts /, /usr and the kernel's file systems, and refuses
units for them.
"""

from collections.abc import Iterator

from slipway.bootstrapper.assembly import paths
from slipway.bootstrapper.assembly.canonical_path import canonical
from slipway.contract.errors import Violation
from slipway.v1alpha1 import os_pb2 as ospb

_MOUNTABLE = frozenset({"/boot", "/var", "/var/lib"})
"""Those that a system may have on a disk of their own; which first-boot system can do it, a format decides."""

SYSTEM_FOLDERS = _MOUNTABLE | {
    *("/", "/bin", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys"),
    *("/usr", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/sbin"),
}

_HIDES = "hides what the system and Slipway itself run from"
_OVER = "choose a folder further below; to change options of what is mounted there, use a command: mount -o remount"
_ELSEWHERE = "choose a path further below"


def violations(os: ospb.OperatingSystem) -> Iterator[Violation]:
    """Give every mount over such a folder, and every file, link or swap file in its place, by its field path."""
    for index, mount in enumerate(os.mounts):
        if mount.path.startswith("/") and canonical(mount.path) in SYSTEM_FOLDERS - _MOUNTABLE:
            yield Violation(f"os.mounts[{index}].path", _HIDES, remedy=_OVER)
    for entry in paths.entries(os):
        is_folder = entry.where.startswith("os.directories[")
        if entry.place in SYSTEM_FOLDERS and not is_folder:
            yield Violation(f"{entry.where}.path", "is a folder of every system", remedy=_ELSEWHERE)
