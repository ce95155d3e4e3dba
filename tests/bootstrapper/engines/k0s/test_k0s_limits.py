"""What k0s cannot have is refused by its field, with a remedy."""

from collections.abc import Callable
from typing import Any

import pytest

from slipway.bootstrapper.engines.k0s.engine import K0sEngine
from slipway.bootstrapper.engines.k0s.features import FEATURES, REMEDIES
from slipway.bootstrapper.engines.testing import FORMAT
from slipway.conformance.contract_features import known_ids
from slipway.contract.errors import CredentialsMissing, KubernetesVersionUnsupported
from tests.bootstrapper.engines.k0s.conftest import Plan, bundle

Make = Callable[..., Plan]


def kubernetes(**fields: Any) -> dict[str, Any]:
    """Give a spec with a Kubernetes part."""
    return {"kubernetes": fields}


def k0s(**options: Any) -> dict[str, Any]:
    """Give a spec with options of k0s."""
    return {"engineOptions": {"k0s": options}}


ARGUMENT = {"name": "v", "value": "3"}
LABELS = {"name": "node-labels", "value": "a=b"}
UNSAFE = {"unsafeSkipCaVerification": True}

REFUSED = [
    ("ROLE_WORKER", kubernetes(node={"providerId": {"value": "a\n[Install]"}}), ".node.provider_id"),
    ("ROLE_INIT", kubernetes(node={"nodeIp": {"value": "a\tb"}}), ".node.node_ip"),
    ("ROLE_WORKER", k0s(program="/opt/$HOME/k0s"), ".k0s.program"),
    ("ROLE_WORKER", kubernetes(node={"kubeletConfiguration": {"text": "{}"}}), ".node.kubelet_configuration"),
    ("ROLE_WORKER", kubernetes(staticPods=[{"name": "a", "manifest": {"text": ""}}]), ".static_pods[0]"),
    ("ROLE_WORKER", kubernetes(discovery={"token": {"caHashes": ["sha256:" + "0" * 64]}}), ".token.ca_hashes"),
    (
        "ROLE_WORKER",
        kubernetes(discovery={"token": UNSAFE}),
        ".unsafe_skip_ca_verification",
    ),
    ("ROLE_WORKER", kubernetes(node={"kubeletArguments": [{"name": "v", "value": "b c"}]}), ".kubelet_arguments[0]"),
    ("ROLE_WORKER", kubernetes(node={"kubeletArguments": [{"name": "network-plugin"}]}), ".kubelet_arguments[0]"),
    (
        "ROLE_WORKER",
        kubernetes(node={"kubeletArguments": [LABELS]}),
        ".kubelet_arguments[0]",
    ),
    (
        "ROLE_WORKER",
        kubernetes(node={"name": {"value": "node"}, "kubeletArguments": [{"name": "hostname-override", "value": "b"}]}),
        ".kubelet_arguments[0]",
    ),
    (
        "ROLE_WORKER",
        kubernetes(node={"kubeletArguments": [ARGUMENT, ARGUMENT]}),
        ".kubelet_arguments[1]",
    ),
    (
        "ROLE_INIT",
        kubernetes(controlPlane={"apiServer": {"arguments": [ARGUMENT, ARGUMENT]}}),
        "[1]",
    ),
    ("ROLE_INIT", kubernetes(controlPlane={"bindPort": 8443}), "endpoint.port"),
    (
        "ROLE_INIT",
        {**kubernetes(etcd={"local": {}}), **k0s(kineDataSource={"secretRef": {"name": "a", "key": "b"}})},
        ".etcd",
    ),
    (
        "ROLE_WORKER",
        {**kubernetes(node={"criSocket": "unix:///a"}), **k0s(ownContainerRuntime=True)},
        ".cri_socket",
    ),
    (
        "ROLE_WORKER",
        {"os": {"containerd": {"sandboxImage": "a"}}, **k0s(ownContainerRuntime=True)},
        ".own_container_runtime",
    ),
    (
        "ROLE_INIT",
        {**kubernetes(node={"labels": [{"name": "a"}]}), **k0s(controlPlaneNodes=False)},
        "intent.kubernetes.node",
    ),
    ("ROLE_WORKER", {"engineOptions": {"kubeadm": {"verbosity": 5}}}, "engine_options.kubeadm"),
]


@pytest.mark.parametrize(("role", "spec", "end"), REFUSED)
def test_what_k0s_cannot_have_is_refused_by_field(plan: Make, role: str, spec: dict[str, Any], end: str) -> None:
    """With nothing else refused, and no plan."""
    made = plan(role, spec)
    assert made.result.files == ()
    assert made.result.steps == ()
    assert len(made.refused) == 1
    assert made.refused[0].endswith(end)
    assert made.result.refusals[0].remedy


def test_networks_of_pods_and_services_are_of_the_same_families(plan: Make) -> None:
    """k0s has one network of each, and a second one of IPv6 of each."""
    made = plan("ROLE_INIT", podCidrs=["10.1.0.0/16", "fd00::/48"])
    assert made.refused == ["intent.cluster.service_cidrs"]


def test_a_machine_does_not_join_a_control_plane_of_another_engine(plan: Make) -> None:
    """The field is that of the spec, where the spec has it."""
    assert plan("ROLE_WORKER", controlPlane="talos").refused == ["intent.cluster.control_plane"]
    assert plan("ROLE_WORKER", kubernetes(engine="k0s"), controlPlane="talos").refused == ["intent.kubernetes.engine"]
    assert plan("ROLE_WORKER", kubernetes(engine="k0s"), controlPlane="k0s").refused == []


def test_literal_commands_are_refused() -> None:
    """An imported config is for the engine that it was written for."""
    sample = bundle("ROLE_WORKER")
    sample.execution.literal_commands = True
    (refusal,) = K0sEngine().build_plan(sample, FORMAT).refusals
    assert refusal.path == "execution.literal_commands"


@pytest.mark.parametrize(
    ("role", "name"),
    [
        ("ROLE_INIT", "cluster_ca"),
        ("ROLE_INIT", "bootstrap_token"),
        ("ROLE_INIT", "declared"),
        ("ROLE_CONTROL_PLANE", "declared"),
        ("ROLE_WORKER", "cluster_ca"),
        ("ROLE_WORKER", "bootstrap_token"),
    ],
)
def test_missing_credentials_are_named(role: str, name: str) -> None:
    """Nothing is made without them."""
    sample = bundle(role)
    sample.intent.credentials.ClearField(name)  # type: ignore[arg-type]
    with pytest.raises(CredentialsMissing) as missing:
        K0sEngine().build_plan(sample, FORMAT)
    assert missing.value.metadata["credentials"]


def test_old_versions_are_not_supported() -> None:
    """The oldest is the one that its real program was tried with."""
    sample = bundle("ROLE_WORKER")
    sample.intent.kubernetes_version = "v1.26.9"
    with pytest.raises(KubernetesVersionUnsupported):
        K0sEngine().build_plan(sample, FORMAT)


def test_every_declared_feature_exists_and_so_does_every_remedy() -> None:
    """A feature that the contract gains is refused until the engine knows what it means."""
    assert set(FEATURES) <= known_ids()
    assert set(REMEDIES) <= known_ids()
    assert not set(REMEDIES) & FEATURES
