"""Which file counts where an imported config and the bootstrap engine write the same path: that of today.

The kubeadm provider writes the cluster's certificates first, then the user's files, then kubeadm's configuration and
the kubeconfig by which it finds the cluster, each over what is there.
Source: cluster-api, bootstrap/kubeadm/pkg/cloudinit and pkg/ignition/clc (order of the templates), and the controller
(the discovery's kubeconfig comes behind the user's files).
"""

from collections.abc import Collection, Iterator
from typing import Any

from slipway.bootstrapper.assembly import paths
from slipway.bootstrapper.lowering.entry_unit import entry_unit_name
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb

_REPLACED = (
    "USER_FILE_REPLACED",
    "has no effect: the bootstrap engine writes this file after it, as it does today",
)
_KEPT = (
    "ENGINE_FILE_REPLACED",
    "counts instead of the file that the bootstrap engine writes, as it does today",
)
_OVERWRITTEN = "has no effect: a unit of that path is written after it, as it is today"
_UNITS = "os.systemd.units.contents"


def settle_files(os: ospb.OperatingSystem, last_written: Collection[str]) -> Iterator[diagnosticpb.Diagnostic]:
    """Leave one file of every path that both write, and remark on it.

    Args:
        os: of an imported machine, with the engine's files behind the user's; changed.
        last_written: paths that the engine writes last.
    """
    entries = [(paths.comparable(file.path), file) for file in os.files]
    engine = {path for path, file in entries if file.origin.made_by}
    user = {path: file for path, file in reversed(entries) if not file.origin.made_by}
    last = {paths.comparable(path) for path in last_written}
    kept: list[ospb.File] = []
    in_front: list[ospb.File] = []
    for path, file in entries:
        made = bool(file.origin.made_by)
        if not (path in engine and path in user) or made == (path in last):
            kept.append(file)
        elif made and all(other.append for other_path, other in entries if other_path == path and other is not file):
            in_front.append(file)  # The user's content comes behind the engine's.
    for number, file in enumerate(os.files):
        path = paths.comparable(file.path)
        if path in engine and user.get(path) == file:
            code, message = _REPLACED if path in last else _KEPT
            yield _remark(f"os.files[{number}]", file.origin, code, message)
    del os.files[:]
    os.files.extend([*in_front, *kept])


def settle_units(bundle: bundlepb.BootstrapBundle, declared: Collection[str]) -> Iterator[diagnosticpb.Diagnostic]:
    """Leave out files and links of an imported machine that a unit is written over today, and remark on each.

    Ignition writes units and drop-ins after all files. Source: coreos/ignition v0.35.0, internal/exec/stages/files
    (createUnits). It concerns formats that write units themselves, whose first-boot system may refuse such a pair.

    Args:
        bundle: of the machine, with its plan; changed.
        declared: ids of the features that the format takes.
    """
    if _UNITS not in declared:
        return
    written = {entry.path for entry in paths.entries(bundle.os) if entry.is_unit}
    written.add(f"{paths.UNIT_FOLDER}/{entry_unit_name(bundle)}")
    lists: list[tuple[str, Any]] = [("files", bundle.os.files), ("links", bundle.os.links)]
    for name, entries in lists:
        gone = [index for index, entry in enumerate(entries) if paths.comparable(entry.path) in written]
        for index in gone:
            yield _remark(f"os.{name}[{index}]", entries[index].origin, "USER_FILE_REPLACED", _OVERWRITTEN)
        for index in reversed(gone):
            del entries[index]


def _remark(where: str, origin: diagnosticpb.Origin, code: str, message: str) -> diagnosticpb.Diagnostic:
    return diagnosticpb.Diagnostic(
        severity=diagnosticpb.SEVERITY_WARNING, code=code, message=message, field_path=where, origin=origin
    )
