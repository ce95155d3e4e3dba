"""Filesystems: cloud-init's fs_setup.

cloud-init alone does not leave a filesystem alone. Its own way to mkfs checks nothing for `partition: none`, compares
kind and label only for a number, and takes a device on which blkid finds two signatures for an empty one. Where
nothing may be overwritten, the entry therefore has the key `cmd`: a command that makes the filesystem only on a device
without any signature, and that fails if the device cannot be read. Each version from 22.4 on runs it instead of mkfs.
"""

import re
import shlex

from slipway.provisioners.cloud_init.document import Value
from slipway.provisioners.cloud_init.partition_search import partition_searches
from slipway.sdk import RenderContext
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb

# The option for a label is -L, but for these.
_LABEL_OPTIONS = {"vfat": "-n", "msdos": "-n", "fat": "-n", "f2fs": "-l"}
# The longest label of each kind, in bytes. Where it is longer, mkfs.xfs, mkfs.vfat and mkfs.btrfs make no filesystem;
# mke2fs and mkswap cut it, so that nothing would be mounted by it.
_LONGEST_LABELS = {
    "ext2": 16, "ext3": 16, "ext4": 16, "xfs": 12, "vfat": 11, "msdos": 11, "fat": 11, "swap": 15, "btrfs": 255,
}  # fmt: skip
# What lets a program work without a question. The device was checked before.
_FORCE = {"ext2": "-F", "ext3": "-F", "ext4": "-F", "btrfs": "-f", "xfs": "-f", "swap": "-f", "f2fs": "-f"}
_DEVICE = "%(device)s"
# cloud-init's own name for a partition of a disk that the cloud attaches, e.g. Azure's "ephemeral0.1".
_ALIAS = re.compile(r"[a-z]+[0-9]*\.[0-9]+")


def fs_setup(bundle: bundlepb.BootstrapBundle, ctx: RenderContext) -> list[Value]:
    """Give the key `fs_setup`."""
    entries: list[Value] = []
    searched = partition_searches(bundle, ctx)
    for index, filesystem in enumerate(bundle.os.filesystems):
        if "." in filesystem.device and not _ALIAS.fullmatch(filesystem.device):
            # cloud-init takes what stands behind the last dot for a partition.
            remedy = "name the device by a path without a dot, such as one in /dev/disk/by-id"
            path = f"os.filesystems[{index}]"
            ctx.refuse(path, "os.storage.filesystems", "the device's name has a dot", remedy=remedy)
            continue
        longest = _LONGEST_LABELS.get(filesystem.format)
        if longest is not None and len(filesystem.label.encode()) > longest:
            why = "is longer than this kind of filesystem holds, so that none of that label would be made"
            path, remedy = f"os.filesystems[{index}].label", f"choose a label of at most {longest} bytes"
            ctx.refuse(path, "os.storage.filesystems.label", why, remedy=remedy)
            continue
        partition = searched.partition(filesystem)
        entries.append(_overwriting(filesystem, partition) if filesystem.overwrite else _keeping(filesystem, partition))
    searched.refuse_unused(ctx)
    return entries


def _keeping(filesystem: ospb.Filesystem, partition: str) -> dict[str, Value]:
    """Give an entry that leaves alone whatever is there."""
    entry = _common(filesystem, partition)
    if filesystem.HasField("label"):
        entry["label"] = filesystem.label
    return entry | {"cmd": _command(filesystem)}


def _command(filesystem: ospb.Filesystem) -> str:
    kind = filesystem.format
    words = ["mkswap" if kind == "swap" else f"mkfs.{kind}"]
    words += [_FORCE[kind]] if kind in _FORCE else []
    words += [_LABEL_OPTIONS.get(kind, "-L"), filesystem.label] if filesystem.label else []
    make = f"{_escaped(shlex.join([*words, *filesystem.options]))} {_DEVICE}"
    allowed = '[ -n "$found" ]'
    if filesystem.replace_format:
        replaced = _escaped(shlex.quote(filesystem.replace_format))
        allowed += f' && [ "$(blkid -p -o value -s TYPE {_DEVICE})" != {replaced} ]'
    return f"found=$(wipefs -n {_DEVICE}) && {{ {{ {allowed}; }} || {make}; }}"


def _escaped(text: str) -> str:
    """Protect a text from the substitution of cloud-init's own keys."""
    return text.replace("%", "%%")


def _overwriting(filesystem: ospb.Filesystem, partition: str) -> dict[str, Value]:
    """Give an entry by which cloud-init makes the filesystem in any case."""
    entry = _common(filesystem, partition)
    options = list(filesystem.options)
    if filesystem.HasField("label") and filesystem.format in _LABEL_OPTIONS:
        # cloud-init says -L to every program; these know another option, and would make no filesystem.
        options = [_LABEL_OPTIONS[filesystem.format], filesystem.label, *options]
    elif filesystem.HasField("label"):
        entry["label"] = filesystem.label
    if options:
        entry["extra_opts"] = options
    return entry


def _common(filesystem: ospb.Filesystem, partition: str) -> dict[str, Value]:
    entry: dict[str, Value] = {"device": filesystem.device, "filesystem": filesystem.format}
    if not _ALIAS.fullmatch(filesystem.device):
        # Unset, cloud-init would look for a partition by itself.
        entry["partition"] = partition
    if filesystem.HasField("overwrite"):
        entry["overwrite"] = filesystem.overwrite
    if filesystem.HasField("replace_format"):
        entry["replace_fs"] = filesystem.replace_format
    return entry
