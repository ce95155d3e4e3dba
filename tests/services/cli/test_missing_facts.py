"""A message about a missing version or endpoint says where it is given, in the words of the user's documents."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.services.cli.conftest import Slipway

CLUSTER = """\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: quay}
spec:
  controlPlaneEndpoint: {host: api.example.com, port: 6443}
  controlPlaneRef: {kind: KubeadmControlPlane, name: plane, apiVersion: controlplane.cluster.x-k8s.io/v1beta1}
"""
PLANE = """\
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata: {name: plane}
spec: {kubeadmConfigSpec: {}}
"""
WORKERS = """\
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: md}
spec: {clusterName: quay, template: {spec: {bootstrap: {configRef: {kind: KubeadmConfigTemplate, name: w}}}}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfigTemplate
metadata: {name: w}
spec: {template: {spec: {}}}
"""
LONE = "apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfig\nmetadata: {name: lone}\nspec: {}\n"
NATIVE = """\
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayCluster
metadata: {name: c}
spec: {cluster: {%s}, machines: [{name: m, role: Worker, config: k}]}
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfig
metadata: {name: k}
spec: {}
"""
OR = ", or fill it in with --set-missing for a first look"
IN_PLANE, IN_WORKERS = "KubeadmControlPlane/plane: spec.version", "MachineDeployment/md: spec.template.spec.version"

CASES = [
    (CLUSTER + PLANE, f"{IN_PLANE}: is required. Give it in {IN_PLANE}{OR}", "a control plane"),
    (CLUSTER + PLANE + WORKERS, f"{IN_WORKERS}: is required. Give it in {IN_WORKERS} or in {IN_PLANE}{OR}", "workers"),
    (CLUSTER + WORKERS, f"Give it in {IN_WORKERS} or in {IN_PLANE}{OR}", "a control plane in another file"),
    (
        CLUSTER.replace("  controlPlaneRef", "  x").partition("  x")[0] + WORKERS,
        f"Give it in {IN_WORKERS}{OR}",
        "a Cluster that names no control plane",
    ),
    (
        LONE,
        f"is required. Add what has it to the files: the KubeadmControlPlane, machines or SlipwayCluster{OR}",
        "a config alone",
    ),
    (
        LONE,
        f"is required. Add its Cluster or SlipwayCluster with an endpoint to the files{OR}",
        "the endpoint likewise",
    ),
    (
        NATIVE % "endpoint: {host: h}",
        f"Give it in SlipwayCluster/c: spec.cluster.kubernetesVersion{OR}",
        "a SlipwayCluster",
    ),
    (
        NATIVE % "kubernetesVersion: v1.34.2",
        f"Give it in SlipwayCluster/c: spec.cluster.endpoint{OR}",
        "a SlipwayCluster without an endpoint",
    ),
]


@pytest.mark.parametrize(("text", "message"), [pytest.param(*case, id=reason) for *case, reason in CASES])
@pytest.mark.parametrize("command", ["validate", "render"])
def test_the_message_says_where_it_is_given(
    slipway: Slipway, write: Callable[..., Path], command: str, text: str, message: str
) -> None:
    """Every place that can have it, and no place that cannot."""
    result = slipway(command, write(text))
    assert message in result.stderr.replace("\n", " ")
    assert "kubernetes_version" not in result.stderr
