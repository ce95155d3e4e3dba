"""Configs for a provider that executes user data as a Go template: what it hands on is cloud-init's."""

from slipway.bootstrapper.importers.manifests import read_manifests
from slipway.v1alpha1 import content_pb2 as contentpb

CONFIG = """
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: md}
spec:
  clusterName: c
  template:
    spec:
      bootstrap: {configRef: {kind: KubeadmConfigTemplate, name: a}}
      infrastructureRef: {kind: %s, name: a}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfigTemplate
metadata: {name: a}
spec:
  template:
    spec:
      preKubeadmCommands: ["echo {{ .kubernetesVersion }}"]
      joinConfiguration: {nodeRegistration: {kubeletExtraArgs: {provider-id: "e://{{ `{{ v1.instance_id }}` }}"}}}
"""


def test_what_the_provider_hands_on_is_a_fact_of_the_machine() -> None:
    """A fact needs no expression in the user data, which the provider would execute; its own stays in place."""
    (machine,) = read_manifests({"f.yaml": CONFIG % "PacketMachineTemplate"}, set_missing=True).machines
    (argument,) = machine.spec.kubernetes.node.kubelet_arguments
    assert [(part.text, part.fact.kind) for part in argument.segments] == [
        ("e://", contentpb.FACT_KIND_UNSPECIFIED),
        ("", contentpb.FACT_KIND_INSTANCE_ID),
    ]
    assert "{{ .kubernetesVersion }}" in str(machine.spec.commands)


def test_nobody_else_executes_it() -> None:
    """Elsewhere it is text that only looks like a template."""
    (machine,) = read_manifests({"f.yaml": CONFIG % "AWSMachineTemplate"}, set_missing=True).machines
    assert machine.spec.kubernetes.node.kubelet_arguments[0].value == "e://{{ `{{ v1.instance_id }}` }}"
