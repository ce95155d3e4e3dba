"""Items that exclude each other since they mean the same thing twice, where no first-boot system could choose.

Ignition refuses each of these, or stops at it; other systems take the one or the other. useradd and groupadd end at a
number that is in use. Of an imported config they stay as they are:
today's provider accepts them. Source: coreos/ignition v2.26.0, config/validate (ValidateDups) and the keys of
config/v3_4/types; disk.go (ErrDuplicateLabels), storage.go (ErrHardLinkToDirectory).
"""

from collections.abc import Iterable, Iterator

from slipway.bootstrapper.assembly.canonical_path import canonical
from slipway.bootstrapper.assembly.partitions import device_of
from slipway.contract.errors import Violation
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import os_pb2 as ospb

_REMEDY = "leave out one of them"


def violations(os: ospb.OperatingSystem, path: str) -> Iterator[Violation]:
    """Give every item that says anew what an earlier one says, by the field path of `os`."""
    users = [(f"{path}.users[{index}].uid", user.uid) for index, user in enumerate(os.users) if user.HasField("uid")]
    yield from _repeated(users, "is the same number as")
    groups = [
        (f"{path}.groups[{index}].gid", group.gid) for index, group in enumerate(os.groups) if group.HasField("gid")
    ]
    yield from _repeated(groups, "is the same number as")
    filesystems = [
        (f"{path}.filesystems[{index}]", device_of(os, entry.partition) if entry.partition.number else _words(entry))
        for index, entry in enumerate(os.filesystems)
    ]
    yield from _repeated(filesystems, "is on the same device as")
    mounts = [
        (f"{path}.mounts[{index}]", canonical(entry.path))
        for index, entry in enumerate(os.mounts)
        if entry.path.startswith("/")
    ]
    yield from _repeated(mounts, "has the same path as")
    arguments = [
        (f"{path}.kernel_arguments[{index}]", entry.argument) for index, entry in enumerate(os.kernel_arguments)
    ]
    yield from _repeated(arguments, "is about the same argument as")
    parameters = [(f"{path}.sysctls[{index}].name", _parameter(entry.name)) for index, entry in enumerate(os.sysctls)]
    yield from _repeated(parameters, "is the same parameter as")
    for number, disk in enumerate(os.disks):
        labels = [
            (f"{path}.disks[{number}].partitions[{index}].label", entry.label)
            for index, entry in enumerate(disk.partitions)
            if entry.label
        ]
        yield from _repeated(labels, "is the same label as")
    folders = {canonical(entry.path): index for index, entry in enumerate(os.directories)}
    for index, link in enumerate(os.links):
        folder = folders.get(canonical(link.target)) if link.hard and link.target.startswith("/") else None
        if folder is not None:
            where = person_path(f"spec.{path}.directories[{folder}]")
            yield Violation(
                f"{path}.links[{index}].target", f"is the folder of {where}", remedy="leave out hard: a folder has none"
            )


def _words(filesystem: ospb.Filesystem) -> str | bytes:
    """Give what names the device, as it is written; a label of a partition need not be that of any."""
    return filesystem.device or filesystem.partition.SerializeToString(deterministic=True)


def _parameter(name: str) -> str:
    """Give the path of a kernel parameter: with dots for slashes, and the other way round, unless a slash is first.

    Source: sysctl(8), "Either / or . are accepted as separators"; procps, sysctl.c (slashdot).
    """
    slash, dot = name.find("/"), name.find(".")
    return name if dot < 0 or 0 <= slash < dot else name.translate({ord("."): "/", ord("/"): "."})


def _repeated(entries: Iterable[tuple[str, object]], relation: str) -> Iterator[Violation]:
    """Give a violation for each entry (a field path and a value) that has the value of an earlier one."""
    first: dict[object, str] = {}
    for where, value in entries:
        earlier = first.setdefault(value, where)
        if earlier != where:
            yield Violation(where, f"{relation} spec.{person_path(earlier)}", remedy=_REMEDY)
