"""Boots the same control plane by our user data and by the kubeadm provider's, and says how long each takes.

    python -m tools.node.compare [--page]       with --page the section of docs/reference/performance.md, too

Each is booted in turn, several times; what counts is the median.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from slipway.bootstrapper.bootstrapper import utc_now
from slipway.bootstrapper.credentials.cluster_secrets import cluster_declarations
from slipway.bootstrapper.credentials.entropy import SystemEntropy
from slipway.bootstrapper.credentials.ephemeral_store import EphemeralStore
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.credentials.store import ClusterKey, KeySettings
from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tools.bench.sections import BOOT, PAGE, with_section
from tools.node import addresses, site, timeline
from tools.node.flavours import FLAVOURS
from tools.oracles import kubeadm_provider
from tools.oracles.kubeadm_provider import ClusterFacts, Role

OUT = Path("out/boot.json")
_ROUNDS = 3  # as many as there are to compare
_SECONDS = 300.0
_VERSION = FLAVOURS["1.34"].version
_ENDPOINT = f"{addresses.machine(1)}:6443"
_PODS, _SERVICES = "10.244.0.0/16", "10.96.0.0/12"
_SPEC: Mapping[str, Any] = {
    "initConfiguration": {"nodeRegistration": {"kubeletExtraArgs": [{"name": "v", "value": "2"}]}},
    # KubeadmControlPlane sets the gate, too.
    "clusterConfiguration": {"featureGates": {"ControlPlaneKubeletLocalMode": True}},
    "preKubeadmCommands": ["sysctl -w net.ipv4.ip_forward=1"],
}
_MANIFESTS = f"""\
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {{name: pace}}
spec:
  controlPlaneEndpoint: {{host: {addresses.machine(1)}, port: 6443}}
  clusterNetwork: {{pods: {{cidrBlocks: [{_PODS}]}}, services: {{cidrBlocks: [{_SERVICES}]}}}}
  controlPlaneRef: {{apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: pace}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {{name: pace}}
spec:
  version: {_VERSION}
  machineTemplate: {{spec: {{infrastructureRef: {{apiGroup: x, kind: Metal3MachineTemplate, name: x}}}}}}
  kubeadmConfigSpec: {json.dumps(_SPEC)}
"""
NATIVE = f"""\
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayCluster
metadata: {{name: pace}}
spec:
  cluster:
    kubernetesVersion: {_VERSION}
    endpoint: {{host: {addresses.machine(1)}, port: 6443}}
    podCidrs: [{_PODS}]
    serviceCidrs: [{_SERVICES}]
  machines: [{{name: native-init, role: Init, config: native}}]
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfig
metadata: {{name: native}}
spec:
  os: {{sysctls: [{{name: net.ipv4.ip_forward, value: "1"}}]}}
  kubernetes:
    node: {{kubeletArguments: [{{name: v, value: "2"}}]}}
  engineOptions: {{kubeadm: {{featureGates: [{{name: ControlPlaneKubeletLocalMode, enabled: true}}]}}}}
"""
_PEM_FILES = {
    "cluster-ca": ("ca.crt", "ca.key"),
    "etcd-ca": ("etcd/ca.crt", "etcd/ca.key"),
    "front-proxy-ca": ("front-proxy-ca.crt", "front-proxy-ca.key"),
    "service-account": ("sa.pub", "sa.key"),
}


def user_data() -> dict[str, bytes]:
    """The same first machine by all, with the same keys."""
    store = EphemeralStore(SecretFactory(entropy=SystemEntropy(), clock=utc_now))
    made = store.ensure(ClusterKey("pace", "default"), cluster_declarations(), KeySettings()).secrets
    ours = {
        "Slipway, its own spec": _ours(NATIVE, made),
        "Slipway, the imported KubeadmControlPlane": _ours(_MANIFESTS, made),
    }
    held = {(entry.name.rpartition("/")[2], entry.key): entry.value.decode() for entry in made}
    pki = {
        file: held[name, key]
        for name, files in _PEM_FILES.items()
        for file, key in zip(files, ("tls.crt", "tls.key"), strict=True)
    }
    facts = ClusterFacts(_VERSION, "pace", _ENDPOINT, "cluster.local", _PODS, _SERVICES, pki)
    return {**ours, "the kubeadm provider": kubeadm_provider.render(_SPEC, role=Role.INIT, facts=facts)}


def _ours(documents: str, secrets: Sequence[secretpb.Secret]) -> bytes:
    questions = read_document_set({"pace.yaml": documents}, variables={}, substitute=False).questions
    question = next(entry for entry in questions if entry.name.endswith("init"))
    question.subject.spec.provisioner.name = "cloud-init"
    question.secrets.secrets.extend(secrets)
    request = bootstrappb.GetUserDataRequest(
        subject=question.subject, credentials=question.secrets, accept_attachments=True
    )
    return asyncio.run(embedded_bootstrapper(store=None).user_data(request)).user_data


@dataclasses.dataclass(frozen=True, slots=True)
class Boot:
    """One boot, from power to sentinel: seconds that passed, and seconds of the processors."""

    seconds: float
    processor_seconds: float


def rounds() -> Iterator[tuple[str, Boot]]:
    """Who rendered, and the boot; in turn and each time from another one on, so that a busy hour is busy for all."""
    items = list(user_data().items())
    for number in range(_ROUNDS):
        for name, content in items[number:] + items[:number]:
            with site.opened() as place:
                machine = place.machine("node")
                machine.boot(content)
                machine.wait_sentinel(timeout=_SECONDS)
                used = machine.processor_seconds
                yield name, Boot(round(timeline.read(machine)[-1].seconds, 1), round(used, 1))


def section(measured: Mapping[str, Sequence[Boot]]) -> str:
    """What stands in the page."""
    rows = ""
    for name, boots in measured.items():
        passed = [boot.seconds for boot in boots]
        used = [boot.processor_seconds for boot in boots]
        each = ", ".join(f"{boot.seconds} ({boot.processor_seconds})" for boot in boots)
        rows += f"| {name} | {statistics.median(passed):.1f} | {statistics.median(used):.1f} | {each} |\n"
    return f"""{BOOT}

Measured by `python -m tools.node.compare --page`: the first control plane of a cluster, a real one (kubeadm, kubelet
and containerd under systemd, see [boot real nodes](../how-to/boot-real-nodes.md)), booted by cloud-init from our user
data (of a spec of our own, and of a KubeadmControlPlane) and from what the kubeadm provider's own renderer emits for
that KubeadmControlPlane; in turn, each on a fresh machine. Two cores did other work meanwhile: seconds of the
processors are the steadier figure. From power to sentinel, medians:

| user data by | seconds | seconds of the processors | each boot |
| --- | --- | --- | --- |
{rows}
`make demo-node` prints the moments in between for each of its machines.
"""


def main() -> None:
    """Measure, print, write out/boot.json, and the page when told."""
    measured: dict[str, list[Boot]] = {}
    for name, boot in rounds():
        print(f"{name}: {boot.seconds} s, {boot.processor_seconds} s of the processors", flush=True)
        measured.setdefault(name, []).append(boot)
    OUT.parent.mkdir(exist_ok=True)
    noted = {name: [dataclasses.asdict(boot) for boot in boots] for name, boots in measured.items()}
    OUT.write_text(json.dumps(noted, indent=2) + "\n", encoding="utf-8")
    if "--page" in sys.argv[1:]:
        page = with_section(PAGE.read_text(encoding="utf-8"), section(measured))
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
