"""The order in which a lowered machine is prepared, checked in once over all passes.

Mounts are there before the homes and files that lie on them, users before the files that they own, files before the
units that read them. A pass does not choose its own place: it names one of these.
"""

from enum import IntEnum


class Rank(IntEnum):
    """Places in the phase PREPARE, first to last."""

    BOOT_COMMANDS = 5
    HOSTNAME = 10
    TRUSTED_CERTIFICATES = 15
    PACKAGES = 20
    DISKS = 21
    FILESYSTEMS = 22
    MOUNTS = 23
    GROUPS = 25
    USERS = 30
    SWAP = 45
    DIRECTORIES = 50
    FILES = 55
    LINKS = 60
    KERNEL_MODULES = 65
    SYSCTLS = 70
    TIME_ZONE = 75
    NTP = 80
    SYSTEMD_UNITS = 85
    CONTAINERD = 90
    DIRECTORY = 95
