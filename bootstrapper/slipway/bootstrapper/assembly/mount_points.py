"""Mounts and homes that cannot come about by the rest of the spec: on a file, on or behind a link, of another kind.

systemd makes no mount at a path that goes through a link, and no folder below a file. Sources: systemd.mount(5) and
systemd's unit_fail_if_noncanonical; ext4(5) for which kinds a driver takes.
"""

from collections.abc import Iterator

from slipway.bootstrapper.assembly import paths
from slipway.bootstrapper.assembly.canonical_path import canonical
from slipway.bootstrapper.assembly.partitions import device_of
from slipway.contract.errors import Violation
from slipway.contract.paths import parents
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import os_pb2 as ospb

_FILES = ("os.files[", "os.swaps[", "os.containerd", "os.systemd_units[")
_LINKS = ("os.links[",)
_NO_PLACE = "write a path that starts with /, or swap in type"
_KINDS = {
    **{kind: kind for kind in ("btrfs", "f2fs", "swap", "xfs")},
    **dict.fromkeys(("ext2", "ext3", "ext4"), "ext"),
    **dict.fromkeys(("fat", "msdos", "vfat"), "fat"),
    **dict.fromkeys(("fuseblk", "ntfs", "ntfs-3g", "ntfs3"), "ntfs"),
}
"""What is made or mounted by one of these names has none of another's filesystems."""
_OLDER = {("ext3", "ext2"), ("ext4", "ext2"), ("ext4", "ext3"), ("ext2", "ext3")}
"""A mount's type, and the format of another name that its driver takes."""


def violations(os: ospb.OperatingSystem) -> Iterator[Violation]:
    """Give every such mount and home, by its field path."""
    known = paths.aliases(os)
    obstacles: dict[str, paths.Owned] = {}
    for entry in paths.entries(os, links=known):
        if entry.where.startswith((*_FILES, *_LINKS)):
            obstacles.setdefault(entry.place or entry.path, entry)
    files = {place: entry for place, entry in obstacles.items() if not entry.where.startswith(_LINKS)}
    for index, mount in enumerate(os.mounts):
        if mount.path == "none" and mount.type != "swap":
            yield Violation(f"os.mounts[{index}].path", "only swap has no mount point", remedy=_NO_PLACE)
        path = canonical(mount.path)
        # A file can be shown in the place of a file.
        if mount.path.startswith("/") and not (paths.is_bind(mount) and path in files):
            yield from _in_the_way(f"os.mounts[{index}].path", path, obstacles)
        yield from _contradiction(os, mount, f"os.mounts[{index}]")
    for index, user in enumerate(os.users):
        if user.home:
            yield from _in_the_way(f"os.users[{index}].home", canonical(user.home, known), files)


def _in_the_way(where: str, path: str, obstacles: dict[str, paths.Owned]) -> Iterator[Violation]:
    """Find what a folder cannot be on or behind."""
    entry = next((obstacles[place] for place in (*parents(path), path) if place in obstacles), None)
    if entry is None:
        return
    place = paths.describe(entry.origin)
    if entry.where.startswith(_LINKS):
        why, remedy = f"is or goes through {place}, which is a link", "write the path that it has behind the link"
    else:
        why = f"is or lies in {place}, which is a file and cannot be a folder"
        remedy = "choose a path outside the file's"
    yield Violation(where, why, remedy=remedy)


def _contradiction(os: ospb.OperatingSystem, mount: ospb.Mount, where: str) -> Iterator[Violation]:
    """Find a mount as another kind than that of the filesystem that the spec makes there."""
    kind = mount.type or "auto"
    source = device_of(os, mount.partition) if mount.HasField("partition") else mount.source
    for index, filesystem in enumerate(os.filesystems):
        made = filesystem.format
        if source not in _names(os, filesystem) or kind == made or (kind, made) in _OLDER:
            continue
        known = kind in _KINDS and made in _KINDS and (_KINDS[kind] != _KINDS[made] or _KINDS[kind] == "ext")
        if known or (kind == "auto" and made == "swap"):
            what = f"is not the format that spec.{person_path(f'os.filesystems[{index}]')} makes there"
            yield Violation(f"{where}.type", what, remedy="write the same in both")
            return


def _names(os: ospb.OperatingSystem, filesystem: ospb.Filesystem) -> set[str]:
    """Give the sources by which a mount can name a filesystem of the spec."""
    device = device_of(os, filesystem.partition) if filesystem.HasField("partition") else filesystem.device
    label = filesystem.label
    return {device, *((f"LABEL={label}", f"/dev/disk/by-label/{label}") if label else ())}
