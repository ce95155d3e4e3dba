"""Which flags the kubelet of a Kubernetes version has: with one that it does not have, it does not start.

The table holds what real kubelets accept (tools/kubernetes_types/kubelet_flags.py). Of a version that is not in it,
nothing is certain: a flag that the nearest ones on both sides have is known, and no flag is refused.
"""

import enum
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Protocol

from slipway.bootstrapper.engines.remarks import VERSION_UNKNOWN
from slipway.bootstrapper.engines.request import NODE, PlanRequest

Series = tuple[int, int]
_FEATURE = "kubernetes.node.kubelet_arguments"
_REMEDY = "remove it, or set the field that replaces it in kubernetes.node.kubeletConfiguration"


class _Reject(Protocol):
    def __call__(self, feature: str, path: str, reason: str, *, remedy: str) -> None: ...


class FlagStatus(enum.Enum):
    """What is known about a flag."""

    KNOWN = "known"
    UNKNOWN = "unknown"
    UNCERTAIN = "uncertain"


def flag_status(flag: str, series: Series) -> FlagStatus:
    """Report whether the kubelet of a minor version has a flag. As the kubelet does, take underscores for dashes."""
    name, table = flag.replace("_", "-"), _table()
    if series in table:
        return FlagStatus.KNOWN if name in table[series] else FlagStatus.UNKNOWN
    older = max((known for known in table if known < series), default=None)
    newer = min((known for known in table if known > series), default=None)
    neighbours = [table[known] for known in (older, newer) if known is not None]
    return FlagStatus.KNOWN if all(name in flags for flags in neighbours) else FlagStatus.UNCERTAIN


def check_flags(request: PlanRequest, reject: _Reject) -> None:
    """Reject arguments that the kubelet of this version does not have; warn where that is not certain.

    Args:
        request: a machine for Linux: the table has no flags of Windows.
        reject: takes feature, field path, reason and remedy of an argument with which the kubelet does not start.
    """
    for index, argument in enumerate(request.kubernetes.node.kubelet_arguments):
        path, status = f"{NODE}.kubelet_arguments[{index}]", flag_status(argument.name, request.version.series)
        if status is FlagStatus.UNKNOWN:
            reject(_FEATURE, path, "the kubelet of this Kubernetes version has no such flag", remedy=_REMEDY)
        elif status is FlagStatus.UNCERTAIN:
            request.remarks.warn(
                VERSION_UNKNOWN,
                path,
                "whether the kubelet of this Kubernetes version has this flag is not known: it does not start with "
                "one that it does not have",
            )


@cache
def _table() -> Mapping[Series, frozenset[str]]:
    text = (files(__package__) / "kubelet_flags.json").read_text(encoding="utf-8")
    return {_series(version): frozenset(flags) for version, flags in json.loads(text)["flags"].items()}


def _series(version: str) -> Series:
    major, minor = version.split(".")
    return int(major), int(minor)
