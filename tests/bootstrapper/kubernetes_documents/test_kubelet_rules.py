"""Values of a kubelet configuration of the right type that the kubelet refuses, as its own validation has them."""

from typing import Any

import pytest
import yaml

from slipway.bootstrapper.kubernetes_documents.kubelet_rules import kubelet_mistakes
from slipway.contract.source_position import path_text

WRONG = [
    ("maxPods: -5", "maxPods", "must be at least 0"),
    ("kubeAPIQPS: -1", "kubeAPIQPS", "must be at least 0"),
    ("nodeStatusMaxImages: -2", "nodeStatusMaxImages", "must be at least -1"),
    ("containerLogMaxFiles: 1", "containerLogMaxFiles", "must be at least 2"),
    ("maxParallelImagePulls: 0", "maxParallelImagePulls", "must be at least 1"),
    ("oomScoreAdj: -1001", "oomScoreAdj", "must be from -1000 to 1000"),
    ("readOnlyPort: 70000", "readOnlyPort", "must be from 0 to 65535"),
    ("imageGCHighThresholdPercent: 101", "imageGCHighThresholdPercent", "must be from 0 to 100"),
    ("cgroupDriver: foo", "cgroupDriver", "must be one of cgroupfs, systemd"),
    ("authorization: {mode: foo}", "authorization.mode", "must be one of AlwaysAllow, Webhook"),
    ("logging: {format: foo}", "logging.format", "must be one of json, text"),
    ("memorySwap: {swapBehavior: foo}", "memorySwap.swapBehavior", "must be one of"),
    ("topologyManagerPolicy: foo", "topologyManagerPolicy", "must be one of"),
    ("clusterDNS: [10.0.0.10, foo]", "clusterDNS[1]", "must be an IP address"),
    ("evictionHard: {memory.available: lots}", "evictionHard[memory.available]", "must be a positive quantity"),
    ("evictionHard: {memory.available: '0'}", "evictionHard[memory.available]", "must be a positive quantity"),
    ("evictionSoft: {memory.available: 101%}", "evictionSoft[memory.available]", "must be a positive quantity"),
    ("evictionSoft: {memory.available: -1Mi}", "evictionSoft[memory.available]", "must be a positive quantity"),
    ("evictionHard: {memory.avail: 1Mi}", "evictionHard[memory.avail]", "is no signal; there are allocatable"),
    ("evictionSoftGracePeriod: {memory.available: soon}", "evictionSoftGracePeriod[memory.available]", "must be a dur"),
    ("enforceNodeAllocatable: [pods, foo]", "enforceNodeAllocatable[1]", "must be one of kube-reserved"),
    ("enforceNodeAllocatable: [pods, none]", "enforceNodeAllocatable[1]", "must stand alone"),
    ("kubeReserved: {cpu: many}", "kubeReserved.cpu", "must be a quantity"),
    ("systemReserved: {gpu: '1'}", "systemReserved.gpu", "cannot be reserved"),
    ("reservedSystemCPUs: foo", "reservedSystemCPUs", "must be a list of CPUs"),
    ("registerWithTaints: [{key: a, effect: foo}]", "registerWithTaints[0].effect", "must be one of NoExecute"),
    ("registerWithTaints: [{effect: NoSchedule}]", "registerWithTaints[0].key", "is required"),
    ("imageGCLowThresholdPercent: 80\nimageGCHighThresholdPercent: 70", "imageGCLowThresholdPercent", "must be less"),
    ("serializeImagePulls: true\nmaxParallelImagePulls: 2", "maxParallelImagePulls", "must be 1 while"),
    ("shutdownGracePeriod: 500ms", "shutdownGracePeriod", "must be 0, or at least a second"),
    ("shutdownGracePeriod: -1s", "shutdownGracePeriod", "must be 0, or at least a second"),
    (
        "shutdownGracePeriod: 1m\nshutdownGracePeriodCriticalPods: 1m1s",
        "shutdownGracePeriodCriticalPods",
        "must be at most",
    ),
    ("containerLogMonitorInterval: 2.9s", "containerLogMonitorInterval", "must be at least 3s"),
    ("containerLogMaxSize: big", "containerLogMaxSize", "must be a quantity"),
    ("podLogsDir: /a//b", "podLogsDir", "must be an absolute path"),
    ("memoryThrottlingFactor: 1.5", "memoryThrottlingFactor", "must be greater than 0"),
]
RIGHT = [
    "{}",
    "maxPods: 0\nport: 0\nnodeLeaseDurationSeconds: 0\noomScoreAdj: -999\nnodeStatusMaxImages: -1\nhealthzPort: null",
    "cgroupDriver: ''\nauthorization: null\nlogging: {format: text}\nhairpinMode: none",
    "clusterDNS: [10.0.0.10, 'fd00::a']\nreservedSystemCPUs: 0-3,8",
    "evictionHard: {memory.available: 100Mi, nodefs.available: 10%, imagefs.inodesFree: 0%, pid.available: 1e3}",
    "evictionMinimumReclaim: {memory.available: 0Mi}\nevictionSoftGracePeriod: {memory.available: 1m30s}",
    "evictionHard: {$patch: replace, memory.available: null}\nregisterWithTaints: [{$patch: delete}]",
    "enforceNodeAllocatable: [pods, kube-reserved]\nkubeReserved: {cpu: 500m, memory: 1Gi}",
    "enforceNodeAllocatable: [none]\nregisterWithTaints: [{key: a, effect: NoSchedule}]",
    "shutdownGracePeriod: 1m30s\nshutdownGracePeriodCriticalPods: 30s\ncontainerLogMonitorInterval: 10s",
    "podLogsDir: /var/log/pods\ncontainerLogMaxSize: 10Mi\nmemoryThrottlingFactor: 0.9",
    "imageGCLowThresholdPercent: 70\nimageGCHighThresholdPercent: 80\nmaxParallelImagePulls: 5",
]


def read(text: str) -> dict[str, Any]:
    """Read a part of a configuration."""
    tree: dict[str, Any] = yaml.safe_load(text)
    return tree


@pytest.mark.parametrize(("text", "path", "message"), WRONG, ids=[row[0] for row in WRONG])
def test_what_the_kubelet_refuses_is_a_mistake(text: str, path: str, message: str) -> None:
    """At its field, with what it must be; a value is never repeated."""
    (mistake,) = kubelet_mistakes(read(text))
    assert path_text(mistake.path).replace('"', "") == path or ".".join(map(str, mistake.path)) == path
    assert mistake.message.startswith(message)
    assert mistake.certain
    assert not any(word in mistake.message for word in ("foo", "lots", "big", "many"))


@pytest.mark.parametrize("text", RIGHT)
def test_what_the_kubelet_takes_is_none(text: str) -> None:
    """Also where a zero or an empty text means the default, and where a patch takes something out."""
    assert list(kubelet_mistakes(read(text))) == []
