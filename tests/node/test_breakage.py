"""Workers with one thing broken on purpose: what they leave on disk and console is diagnosed with the right reason."""

from typing import Any

import pytest

from slipway.diagnosis.diagnosis import diagnose
from slipway.diagnosis.log_files import Log
from tests.node.harbour import Harbour, failure, script
from tools.node.machine import Machine

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1200)]

SHORT = {"engineOptions": {"kubeadm": {"timeouts": {"discovery": "8s", "kubernetesApi": "8s"}}}}
SHORT_JOIN = {"tlsBootstrap": "20s"}
UNITS = ("-u", "kubelet", "-u", "containerd")
WITHOUT_CRI = (
    "printf 'version = 2\\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\"]\\n' >/etc/containerd/config.toml",
    "systemctl restart containerd",
)
SOON = "sed -i 's/^timeouts:/&\\n  kubeletHealthCheck: 15s/' /etc/slipway/kubeadm.yaml"
LISTENER = "import socket,time;s=socket.socket();s.bind((chr(48)+chr(46)+chr(48),10250));s.listen();time.sleep(9999)"


def diagnosed(machine: Machine, tail: str) -> list[str]:
    """Give the reasons in what an operator has of a machine: record of the step, console, journal of the units."""
    logs = [Log("step.failed", tail), Log("console", machine.serial()), Log("units", machine.journal(*UNITS))]
    return [finding.rule.reason for finding in diagnose(logs).findings]


def token(**discovery: Any) -> dict[str, Any]:
    """Give a spec whose discovery differs, with timeouts that a test can wait for."""
    return {"kubernetes": {"discovery": {"token": discovery}, "timeouts": SHORT_JOIN}, **SHORT}


def before(*lines: str) -> dict[str, Any]:
    """Give a spec with commands before the bootstrap."""
    return {"commands": {"pre": [script(*lines)]}, "kubernetes": {"timeouts": SHORT_JOIN}, **SHORT}


BROKEN = [
    ("name-of-endpoint", token(endpoint="api.nowhere.invalid:6443"), {"EndpointNameNotResolved", "DnsNotConfigured"}),
    ("endpoint-away", token(endpoint="10.77.0.250:6443"), {"EndpointUnreachable"}),
    ("ca-hash", token(caHashes=["sha256:" + "0" * 64]), {"CaHashMismatch"}),
    ("no-cri", before(SOON, *WITHOUT_CRI), {"ContainerdWithoutCri", "CriPluginNotLoaded"}),
    ("port", before(f"systemd-run python3 -c '{LISTENER}'", "sleep 2"), {"PortInUse"}),
    ("field", before("sed -i 's/tlsBootstrap: .*/tlsBootstrap: 5/' /etc/slipway/kubeadm.yaml"),
     {"KubeadmConfigInvalid"}),
    ("kubelet-flag", before(SOON, "echo KUBELET_EXTRA_ARGS=--no-such-flag >/etc/default/kubelet"),
     {"KubeletFlagUnknown"}),
    ("download", before("curl -fsS -o /dev/null http://10.77.0.1/none"), {"DownloadNotFound", "DownloadUnreachable"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "spec", "reasons"), BROKEN, ids=[name for name, _, _ in BROKEN])
def test_what_is_broken_is_the_reason(harbour: Harbour, name: str, spec: dict[str, Any], reasons: set[str]) -> None:
    """The first reason is the cause, and the machine does not join."""
    machine = harbour.worker(f"broken-{name}", **spec)
    _, tail = failure(machine)
    assert diagnosed(machine, tail)[:1] in [[reason] for reason in reasons]
    assert not harbour.joined(machine.name)
