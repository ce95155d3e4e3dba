"""Which flags the programs of a Kubernetes version have: with one that it does not have, a program does not start.

The table holds what the real kubelet, kube-apiserver, kube-controller-manager and kube-scheduler accept, and what the
source of further kubelets registers (tools/kubernetes_types/program_flags.py). Of a version that is not in it, nothing
is certain: a flag that the nearest ones on both sides have is known, and no flag is refused.
"""

import enum
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Protocol

from slipway.bootstrapper.engines.component_files import API_SERVER, CONTROLLER_MANAGER, SCHEDULER
from slipway.bootstrapper.engines.remarks import VERSION_UNKNOWN
from slipway.bootstrapper.engines.request import KUBERNETES, NODE, PlanRequest

KUBELET = "kubelet"
COMPONENTS = {
    API_SERVER: "kube-apiserver",
    CONTROLLER_MANAGER: "kube-controller-manager",
    SCHEDULER: "kube-scheduler",
}
"""The programs of the control plane, by the names that the components have in a spec."""
Series = tuple[int, int]
_OF_WINDOWS = frozenset({"windows-priorityclass", "windows-service"})
"""Flags of the kubelet for Windows alone. Source: Kubernetes, cmd/kubelet/app/options/osflags_windows.go."""
_REMEDY = "remove it, or write the flag that replaces it in this version"
_KUBELET_REMEDY = "remove it, or set the field that replaces it in kubernetes.node.kubeletConfiguration"


class _Reject(Protocol):
    def __call__(self, feature: str, path: str, reason: str, *, remedy: str) -> None: ...


class FlagStatus(enum.Enum):
    """What is known about a flag."""

    KNOWN = "known"
    UNKNOWN = "unknown"
    UNCERTAIN = "uncertain"


def flag_status(program: str, flag: str, series: Series) -> FlagStatus:
    """Report whether a program of a minor version has a flag. As the programs do, take underscores for dashes."""
    name, table = flag.replace("_", "-"), _table()[program]
    if series in table:
        return FlagStatus.KNOWN if name in table[series] else FlagStatus.UNKNOWN
    older = max((known for known in table if known < series), default=None)
    newer = min((known for known in table if known > series), default=None)
    neighbours = [table[known] for known in (older, newer) if known is not None]
    return FlagStatus.KNOWN if all(name in flags for flags in neighbours) else FlagStatus.UNCERTAIN


def check_kubelet_flags(request: PlanRequest, reject: _Reject, *, windows: bool = False) -> None:
    """Reject arguments that the kubelet of this version does not have; warn where that is not certain.

    Args:
        request: a machine.
        reject: takes feature, field path, reason and remedy of an argument with which the kubelet does not start.
        windows: the machine is for Windows, where the kubelet has some flags beside those of the table.
    """
    feature = "kubernetes.node.kubelet_arguments"
    for index, argument in enumerate(request.kubernetes.node.kubelet_arguments):
        path = f"{NODE}.kubelet_arguments[{index}]"
        if windows and argument.name in _OF_WINDOWS:
            continue
        _check(request, reject, (KUBELET, argument.name), (feature, path), _KUBELET_REMEDY)


def check_component_flags(request: PlanRequest, reject: _Reject) -> None:
    """Reject arguments that a component of the control plane does not have; warn where that is not certain.

    Args:
        request: a machine whose spec says how the components of its cluster's control plane are started.
        reject: takes feature, field path, reason and remedy of an argument with which a component does not start.
    """
    control_plane, plane = request.kubernetes.control_plane, f"{KUBERNETES}.control_plane"
    for component, program in COMPONENTS.items():
        field = component.replace("-", "_")
        feature = f"kubernetes.control_plane.{field}.arguments"
        for index, argument in enumerate(getattr(control_plane, field).arguments):
            path = f"{plane}.{field}.arguments[{index}]"
            _check(request, reject, (program, argument.name), (feature, path), _REMEDY)
    for index, file in enumerate(control_plane.files):
        place = ("kubernetes.control_plane.files", f"{plane}.files[{index}].argument")
        if file.component in COMPONENTS and file.argument:
            _check(request, reject, (COMPONENTS[file.component], file.argument), place, _REMEDY)


def _check(request: PlanRequest, reject: _Reject, flag: tuple[str, str], place: tuple[str, str], remedy: str) -> None:
    (program, name), (feature, path) = flag, place
    status = flag_status(program, name, request.version.series)
    if status is FlagStatus.UNKNOWN:
        reason = f"names the flag {name}, which the {program} of this Kubernetes version does not have"
        reject(feature, path, reason, remedy=remedy)
    elif status is FlagStatus.UNCERTAIN:
        request.remarks.warn(
            VERSION_UNKNOWN,
            path,
            f"names the flag {name}, and whether the {program} of this Kubernetes version has it is not known: it does "
            "not start with one that it does not have",
        )


@cache
def _table() -> Mapping[str, Mapping[Series, frozenset[str]]]:
    text = (files(__package__) / "program_flags.json").read_text(encoding="utf-8")
    return {
        program: {_series(version): frozenset(flags) for version, flags in versions.items()}
        for program, versions in json.loads(text)["flags"].items()
    }


def _series(version: str) -> Series:
    major, minor = version.split(".")
    return int(major), int(minor)
