"""The machines that are measured: a small cluster in each role, native and imported."""

from pathlib import Path

from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.cli.loading import load
from slipway.cli.options import Inputs
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"

BARE_KUBEADM = """
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: bare}
spec:
  controlPlaneEndpoint: {host: api.bare.example.com, port: 6443}
  clusterNetwork: {pods: {cidrBlocks: [10.244.0.0/16]}}
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: bare}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: bare}
spec:
  version: v1.34.2
  machineTemplate: {spec: {infrastructureRef: {apiGroup: x, kind: Metal3MachineTemplate, name: x}}}
  kubeadmConfigSpec: {}
"""


def native() -> list[MachineQuestion]:
    """Give the machines of the native example."""
    return load(Inputs((EXAMPLES / "native.yaml",), {}, set_missing=True, machines=(), target="")).questions


def windows() -> list[MachineQuestion]:
    """Give the Windows machine of the imported example."""
    loaded = load(Inputs((EXAMPLES / "cluster-aws.yaml",), {}, set_missing=True, machines=(), target=""))
    return [question for question in loaded.questions if question.name.endswith("windows")]


def bare(folder: Path) -> list[MachineQuestion]:
    """Give the machines of a KubeadmControlPlane without any user content: RSA keys, as the kubeadm provider makes."""
    file = folder / "bare.yaml"
    file.write_text(BARE_KUBEADM)
    return load(Inputs((file,), {}, set_missing=True, machines=(), target="")).questions


def largest() -> bootstrappb.Subject:
    """Give a machine with as many commands as the contract allows: what one request can ask of a server at most."""
    subject = native()[-1].subject
    for phase in ("boot", "pre", "post"):
        commands = getattr(subject.spec.commands, phase)
        del commands[:]
        for number in range(1000):
            commands.add().script.text = f"echo {number}"
    return subject
