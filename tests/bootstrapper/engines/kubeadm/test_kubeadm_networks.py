"""Networks that kubeadm refuses on the machine, and other engines take."""

import pytest

from slipway.bootstrapper.engines.k0s.engine import K0sEngine
from slipway.bootstrapper.engines.kubeadm.engine import KubeadmEngine
from slipway.bootstrapper.engines.testing import FORMAT, machine
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb

PODS, SERVICES = "intent.cluster.pod_cidrs[0]", "intent.cluster.service_cidrs[0]"


@pytest.mark.parametrize(
    ("pods", "services", "argument", "paths"),
    [
        ("192.168.0.0/16", "10.0.0.0/28", "", []),
        ("192.168.0.0/16", "10.0.0.0/29", "", [SERVICES]),
        ("10.0.0.0/8", "192.168.0.0/24", "", []),
        ("16.0.0.0/7", "192.168.0.0/24", "", [PODS]),
        ("16.0.0.0/7", "192.168.0.0/24", "node-cidr-mask-size-ipv4", []),
    ],
)
def test_only_kubeadm_refuses_what_only_kubeadm_refuses(
    pods: str, services: str, argument: str, paths: list[str]
) -> None:
    """By field, with a remedy, of control planes; k0s takes the same networks, and workers of kubeadm do."""
    kubernetes = kubernetespb.Kubernetes()
    if argument:
        kubernetes.control_plane.controller_manager.arguments.add(name=argument, value="20")
    for engine, role, expected in (
        (KubeadmEngine(), clusterpb.ROLE_INIT, paths),
        (KubeadmEngine(), clusterpb.ROLE_WORKER, []),
        (K0sEngine(), clusterpb.ROLE_INIT, []),
    ):
        bundle = machine(engine, role, kubernetes=kubernetes)
        bundle.intent.cluster.pod_cidrs[:], bundle.intent.cluster.service_cidrs[:] = [pods], [services]
        refusals = engine.build_plan(bundle, FORMAT).refusals
        assert [refusal.path for refusal in refusals] == expected
        assert all(refusal.advice for refusal in refusals)
