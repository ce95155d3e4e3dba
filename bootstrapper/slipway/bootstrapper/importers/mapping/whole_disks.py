"""A filesystem on the whole of a disk that the same config divides: templates have it, and it works today.

Today the table is made first, and then the filesystem in its place: cloud-init's mkfs for `partition: none`
(cc_disk_setup.mkfs) and Ignition's filesystem stage (coreos/ignition v2.26.0, internal/exec/stages/disks: libblkid
finds superblocks only, so a table counts as an empty device) do not look for one. Here whatever is on a device is left
alone, a table that was made a moment before too, and the mount would fail. So the table is not made at all: on an empty
disk that gives the same machine, and a disk that has anything is left alone.
"""

import re
from dataclasses import replace

from slipway.bootstrapper.importers.mapping.context import Context
from slipway.bootstrapper.importers.mapping.disks import searched_devices
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb

_PARTITION = re.compile(r"(?:-part|p)?[0-9]+")
_BEHIND_NUMBER = re.compile(r"(?:-part|p)[0-9]+")
"""What a partition's name has behind a disk's that ends in a number: lun10 is no partition of lun1."""
_LEFT_OUT = "no partition table is made: a filesystem of this config takes the whole disk, and today replaces the table"
_BOTH = "is on the whole of a disk of which this config uses a partition too: leave out one of them"


def leave_out_tables(context: Context, place: Place, spec: specpb.MachineBootstrapSpec) -> None:
    """Leave out each disk of which a filesystem takes the whole; the wish to overwrite goes to the filesystem.

    A filesystem for which cloud-init looks for a partition is on no whole disk.
    """
    searched = searched_devices(spec)
    for index in reversed(range(len(spec.os.disks))):
        disk = spec.os.disks[index]
        on_it = [each for each in spec.os.filesystems if each.device == disk.device and each.device not in searched]
        if not on_it:
            continue
        if _uses_partition(spec.os, disk.device):
            problem = place.problem(_BOTH)
            context.findings.problems.append(replace(problem, path=on_it[0].origin.path))
            continue
        if disk.overwrite:
            for filesystem in on_it:
                filesystem.overwrite = True
        context.findings.diagnostics.append(
            diagnosticpb.Diagnostic(
                severity=diagnosticpb.SEVERITY_INFO, code="TABLE_LEFT_OUT", message=_LEFT_OUT, origin=disk.origin
            )
        )
        del spec.os.disks[index]


def _uses_partition(os: ospb.OperatingSystem, disk: str) -> bool:
    form = _BEHIND_NUMBER if disk[-1:].isdigit() else _PARTITION
    names = [*(each.device for each in os.filesystems), *(each.source for each in os.mounts)]
    return any(each.partition.disk == disk for each in os.filesystems) or any(
        name.startswith(disk) and form.fullmatch(name, len(disk)) for name in names
    )
