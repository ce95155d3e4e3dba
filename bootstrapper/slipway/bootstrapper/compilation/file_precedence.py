"""Which file counts where an imported config and the bootstrap engine write the same path: that of today.

The kubeadm provider writes the cluster's certificates first, then the user's files, then kubeadm's configuration and
the kubeconfig by which it finds the cluster, each over what is there.
Source: cluster-api, bootstrap/kubeadm/pkg/cloudinit and pkg/ignition/clc (order of the templates), and the controller
(the discovery's kubeconfig comes behind the user's files).
"""

from collections.abc import Collection, Iterator

from slipway.bootstrapper.assembly import paths
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb


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
            yield _remark(f"os.files[{number}]", file, replaced=path in last)
    del os.files[:]
    os.files.extend([*in_front, *kept])


def _remark(where: str, file: ospb.File, *, replaced: bool) -> diagnosticpb.Diagnostic:
    code, message = (
        ("USER_FILE_REPLACED", "has no effect: the bootstrap engine writes this file after it, as it does today")
        if replaced
        else ("ENGINE_FILE_REPLACED", "counts instead of the file that the bootstrap engine writes, as it does today")
    )
    return diagnosticpb.Diagnostic(
        severity=diagnosticpb.SEVERITY_WARNING, code=code, message=message, field_path=where, origin=file.origin
    )
