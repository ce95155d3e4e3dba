"""Values of a kubelet configuration that are of the right type, and that the kubelet refuses or ignores all the same.

A part of a configuration is laid over another: only what no other part can make right is a mistake.

Sources: pkg/kubelet/apis/config/validation and the readers of its values (eviction, cm, logs, cmd/kubelet/app) in
k8s.io/kubernetes 1.30 and 1.34, which agree on what is here.
"""

import ipaddress
import math
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from slipway.bootstrapper.kubernetes_documents.strict_decoding import Mistake
from slipway.bootstrapper.kubernetes_documents.values import mismatch

_ANY = math.inf
_RANGES: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys(("eventBurst", "eventRecordQPS", "kubeAPIBurst", "kubeAPIQPS", "maxOpenFiles"), (0, _ANY)),
    **dict.fromkeys(("maxPods", "nodeLeaseDurationSeconds", "podsPerCore"), (0, _ANY)),
    **dict.fromkeys(("registryBurst", "registryPullQPS"), (0, _ANY)),
    **dict.fromkeys(("imageGCHighThresholdPercent", "imageGCLowThresholdPercent"), (0, 100)),
    **dict.fromkeys(("iptablesDropBit", "iptablesMasqueradeBit"), (0, 31)),
    **dict.fromkeys(("healthzPort", "port", "readOnlyPort"), (0, 65535)),
    "containerLogMaxFiles": (2, _ANY),
    "containerLogMaxWorkers": (1, _ANY),
    "maxParallelImagePulls": (1, _ANY),
    "nodeStatusMaxImages": (-1, _ANY),
    "oomScoreAdj": (-1000, 1000),
}
"""The least and the most of a number. Where 0 means the default, it is allowed."""

_WORDS: Mapping[str, tuple[str, ...]] = {
    "authorization.mode": ("AlwaysAllow", "Webhook"),
    "cgroupDriver": ("cgroupfs", "systemd"),
    "cpuManagerPolicy": ("none", "static"),
    "hairpinMode": ("hairpin-veth", "none", "promiscuous-bridge"),
    "logging.format": ("json", "text"),
    "memoryManagerPolicy": ("BestEffort", "None", "Static"),
    "memorySwap.swapBehavior": ("LimitedSwap", "NoSwap", "UnlimitedSwap"),
    "topologyManagerPolicy": ("best-effort", "none", "restricted", "single-numa-node"),
    "topologyManagerScope": ("container", "pod"),
}
"""Texts of which there are few; an empty one is the default. The kubelet takes an unknown cgroupDriver for cgroupfs."""

_ENFORCED = ("kube-reserved", "kube-reserved-compressible", "none", "pods", "system-reserved")
_EFFECTS = ("NoExecute", "NoSchedule", "PreferNoSchedule")
_SIGNALS = (
    *("allocatableMemory.available", "containerfs.available", "containerfs.inodesFree", "imagefs.available"),
    *("imagefs.inodesFree", "memory.available", "nodefs.available", "nodefs.inodesFree", "pid.available"),
)
_RESERVED = ("cpu", "ephemeral-storage", "memory", "pid")
_PERCENT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)%")
_CPUS = re.compile(r"[0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*+")
_UNIT = re.compile("(ns|us|\u00b5s|\u03bcs|ms|s|m|h)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "\u00b5s": 1e-6, "\u03bcs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_LEAST_INTERVAL = 3


def kubelet_mistakes(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    """Give the values of a configuration, or of a part of one, that the kubelet does not take; its types are right."""
    for name, bounds in _RANGES.items():
        yield from _out_of_range(tree, name, bounds)
    for name, words in _WORDS.items():
        path = tuple(name.split("."))
        value = _at(tree, path)
        if value and value not in words:
            yield Mistake(path, f"must be one of {', '.join(words)}")
    for rule in _RULES:
        yield from rule(tree)


def _at(tree: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = tree
    for name in path:
        value = (value or {}).get(name)
    return value


def _out_of_range(tree: Mapping[str, Any], name: str, bounds: tuple[float, float]) -> Iterator[Mistake]:
    (low, high), value = bounds, tree.get(name)
    if value is not None and not low <= value <= high:
        yield Mistake((name,), f"must be at least {low}" if high == _ANY else f"must be from {low} to {high}")


def _addresses(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    for index, text in enumerate(tree.get("clusterDNS") or ()):
        try:
            ipaddress.ip_address(text or "")
        except ValueError:
            yield Mistake(("clusterDNS", index), "must be an IP address: the kubelet ignores anything else")


def _evictions(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    for name in ("evictionHard", "evictionSoft", "evictionMinimumReclaim"):
        for signal, text in _entries(tree, name):
            yield from _signal(name, signal)
            if not _is_amount(text, zero=name == "evictionMinimumReclaim"):
                yield Mistake((name, signal), "must be a positive quantity such as 100Mi, or a percentage up to 100%")
    for signal, text in _entries(tree, "evictionSoftGracePeriod"):
        yield from _signal("evictionSoftGracePeriod", signal)
        if mismatch(text, "duration") or text.startswith("-"):
            yield Mistake(("evictionSoftGracePeriod", signal), "must be a duration such as 1m30s")


def _entries(tree: Mapping[str, Any], name: str) -> Iterator[tuple[str, str]]:
    """Give what a map says; a patch may also have directives there, and nothing where it takes an entry out."""
    for key, text in (tree.get(name) or {}).items():
        if not key.startswith("$") and text is not None:
            yield key, text


def _signal(name: str, signal: str) -> Iterator[Mistake]:
    if signal not in _SIGNALS:
        yield Mistake((name, signal), f"is no signal; there are {', '.join(_SIGNALS)}")


def _is_amount(text: str, *, zero: bool) -> bool:
    if text.endswith("%"):
        return _PERCENT.fullmatch(text) is not None and 0 <= float(text[:-1]) <= 100  # noqa: PLR2004 - of a hundred
    if mismatch(text, "quantity") or text.startswith("-"):
        return False
    return zero or re.match(r"[+]?[0.]*+[1-9]", text.strip()) is not None


def _reservations(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    for name in ("kubeReserved", "systemReserved"):
        for resource, text in _entries(tree, name):
            if resource not in _RESERVED:
                yield Mistake((name, resource), f"cannot be reserved; {', '.join(_RESERVED)} can")
            elif mismatch(text, "quantity") or text.startswith("-"):
                yield Mistake((name, resource), "must be a quantity such as 500m or 2Gi")
    cpus = tree.get("reservedSystemCPUs")
    if cpus and not _CPUS.fullmatch(cpus):
        yield Mistake(("reservedSystemCPUs",), "must be a list of CPUs such as 0-3,8")


def _enforcements(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    words = tree.get("enforceNodeAllocatable") or ()
    for index, word in enumerate(words):
        if word not in _ENFORCED and word != "system-reserved-compressible":
            yield Mistake(("enforceNodeAllocatable", index), f"must be one of {', '.join(_ENFORCED)}")
        elif word == "none" and len(words) > 1:
            yield Mistake(("enforceNodeAllocatable", index), "must stand alone")


def _taints(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    for index, taint in enumerate(tree.get("registerWithTaints") or ()):
        if "$patch" in (taint or {}):
            continue
        if not (taint or {}).get("key"):
            yield Mistake(("registerWithTaints", index, "key"), "is required")
        elif taint.get("effect") not in _EFFECTS:
            yield Mistake(("registerWithTaints", index, "effect"), f"must be one of {', '.join(_EFFECTS)}")


def _images(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    low, high = tree.get("imageGCLowThresholdPercent"), tree.get("imageGCHighThresholdPercent")
    if low is not None and high is not None and low >= high:
        yield Mistake(("imageGCLowThresholdPercent",), "must be less than imageGCHighThresholdPercent")
    if tree.get("serializeImagePulls") and (tree.get("maxParallelImagePulls") or 0) > 1:
        yield Mistake(("maxParallelImagePulls",), "must be 1 while serializeImagePulls is true")


def _times(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    whole, critical = _seconds(tree, "shutdownGracePeriod"), _seconds(tree, "shutdownGracePeriodCriticalPods")
    for name, value in (("shutdownGracePeriod", whole), ("shutdownGracePeriodCriticalPods", critical)):
        if value is not None and (value < 0 or 0 < value < 1):
            yield Mistake((name,), "must be 0, or at least a second")
    if whole is not None and critical is not None and critical > whole:
        yield Mistake(("shutdownGracePeriodCriticalPods",), "must be at most shutdownGracePeriod")
    interval = _seconds(tree, "containerLogMonitorInterval")
    if interval is not None and interval < _LEAST_INTERVAL:
        yield Mistake(("containerLogMonitorInterval",), "must be at least 3s")


def _seconds(tree: Mapping[str, Any], name: str) -> float | None:
    text = tree.get(name)
    if not isinstance(text, str) or mismatch(text, "duration"):
        return None
    parts = _UNIT.split(text.lstrip("+-"))
    value = sum(float(number) * _SECONDS[unit] for number, unit in zip(parts[::2], parts[1::2], strict=False))
    return -value if text.startswith("-") else value


def _logs(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    folder = tree.get("podLogsDir")
    if folder and (not folder.startswith("/") or posixpath.normpath(folder) != folder or not folder.isascii()):
        yield Mistake(("podLogsDir",), "must be an absolute path in its shortest form, of ASCII")
    size = tree.get("containerLogMaxSize")
    if size and mismatch(size, "quantity"):
        yield Mistake(("containerLogMaxSize",), "must be a quantity such as 10Mi")
    factor = tree.get("memoryThrottlingFactor")
    if factor is not None and not 0 < factor <= 1:
        yield Mistake(("memoryThrottlingFactor",), "must be greater than 0, and at most 1")


_RULES: tuple[Callable[[Mapping[str, Any]], Iterator[Mistake]], ...] = (
    _addresses,
    _enforcements,
    _evictions,
    _images,
    _logs,
    _reservations,
    _taints,
    _times,
)
