"""What a config means depends on the role of its machine, and on the version of the control plane."""

import pytest

from slipway.contract.source_position import SourceError
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.importers.carrying import BETA1, carried, codes


def test_a_control_plane_differs_by_role() -> None:
    """Its init half is for the first machine, its join half for those that join, the rest for both."""
    spec = carried(
        """
        clusterConfiguration: {imageRepository: r}
        initConfiguration: {nodeRegistration: {name: a}, skipPhases: [p]}
        joinConfiguration: {nodeRegistration: {name: b}}
        """,
        kind="KubeadmControlPlane",
    ).spec
    assert spec.kubernetes.images.repository == "r"
    assert not spec.kubernetes.HasField("node")
    assert (spec.init.kubernetes.node.name.value, spec.join.kubernetes.node.name.value) == ("a", "b")
    assert spec.init.engine_options.kubeadm.skipped_phases == ["p"]
    assert not spec.join.HasField("engine_options")


HALVES = """
initConfiguration: {nodeRegistration: {name: a}, skipPhases: [addon/kube-proxy]}
joinConfiguration: {nodeRegistration: {name: b}, skipPhases: [preflight]}
"""
INIT, JOIN = HALVES.strip().splitlines()


@pytest.mark.parametrize(
    ("spec", "role", "warnings"),
    [
        (INIT, clusterpb.ROLE_CONTROL_PLANE, ["NO_EFFECT"]),
        (INIT, clusterpb.ROLE_UNSPECIFIED, []),
        (JOIN, clusterpb.ROLE_INIT, ["NO_EFFECT"]),
        (HALVES, clusterpb.ROLE_INIT, ["NO_EFFECT"]),
        (HALVES, clusterpb.ROLE_CONTROL_PLANE, ["NO_EFFECT"]),
        (INIT, clusterpb.ROLE_INIT, []),
    ],
)
def test_a_half_for_another_role_changes_nothing(
    spec: str, role: clusterpb.Role.ValueType, warnings: list[str]
) -> None:
    """Kubeadm would refuse a phase that it does not have; the provider of today leaves the other half out."""
    got = carried(spec, role=role)
    for half, name in ((got.spec.init, "a"), (got.spec.join, "b")):
        assert half.kubernetes.node.name.value in ("", name)
    own = got.spec.kubernetes.node.name.value
    assert own == ("a" if (spec, role) == (INIT, clusterpb.ROLE_INIT) else "")
    assert codes(got) == warnings


def test_timeouts_of_v1beta1_count_for_both_halves() -> None:
    """TimeoutForControlPlane moves to init and join, as in Cluster API's conversion, and keeps its place."""
    spec = "clusterConfiguration: {apiServer: {timeoutForControlPlane: 2m}}\ninitConfiguration: {skipPhases: [x]}"
    got = carried(spec, version=BETA1, kind="KubeadmControlPlane").spec
    assert got.init.kubernetes.timeouts.control_plane_component.seconds == 120
    assert got.join.kubernetes.timeouts.control_plane_component.seconds == 120


GATES = [
    ("v1.30.9", []),
    ("v1.31.0-rc.1", [("ControlPlaneKubeletLocalMode", True)]),
    ("v1.35.2", [("ControlPlaneKubeletLocalMode", True)]),
    ("v1.36.0", []),
]


OPTIONAL = ("engine_options.kubeadm.feature_gates", "engine_options.kubeadm")


@pytest.mark.parametrize(("version", "gates"), GATES)
def test_control_planes_get_the_feature_gate(version: str, gates: list[tuple[str, bool]]) -> None:
    """KubeadmControlPlane's own edit is applied for 1.31 to 1.35."""
    got = carried(
        "clusterConfiguration: {imageRepository: r}", kind="KubeadmControlPlane", control_plane_version=version
    )
    assert [(gate.name, gate.enabled) for gate in got.spec.engine_options.kubeadm.feature_gates] == gates
    assert ("FEATURE_GATE_ADDED" in codes(got)) == bool(gates)
    assert list(got.spec.optional_features) == (list(OPTIONAL) if gates else [])
    assert not carried("files: []", control_plane_version=version).spec.engine_options.kubeadm.feature_gates


def test_a_gate_that_is_set_is_left() -> None:
    """The user's own value wins."""
    spec = "clusterConfiguration: {featureGates: {ControlPlaneKubeletLocalMode: false}}"
    got = carried(spec, kind="KubeadmControlPlane").spec.engine_options.kubeadm.feature_gates
    assert [(gate.name, gate.enabled) for gate in got] == [("ControlPlaneKubeletLocalMode", False)]


def test_options_that_somebody_asked_for_are_never_left_out() -> None:
    """Only the gate that KubeadmControlPlane adds may be left out where no kubeadm runs."""
    spec = "joinConfiguration: {skipPhases: [a]}"
    got = carried(spec, kind="KubeadmControlPlane", control_plane_version="v1.34.2").spec
    assert list(got.optional_features) == [OPTIONAL[0]]


def test_workers_leave_the_control_plane_out() -> None:
    """As today clusterConfiguration has no effect on a worker; a warning says so."""
    spec = "clusterConfiguration: {imageRepository: r}\njoinConfiguration: {nodeRegistration: {name: node}}"
    got = carried(spec, role=clusterpb.ROLE_WORKER)
    assert not got.spec.kubernetes.HasField("images")
    assert got.spec.kubernetes.node.name.value == "node"
    assert codes(got) == ["NO_EFFECT"]


def test_a_worker_with_a_control_plane_is_refused() -> None:
    """joinConfiguration.controlPlane contradicts the role."""
    with pytest.raises(SourceError, match=r"joinConfiguration.controlPlane: must not be set"):
        carried("joinConfiguration: {controlPlane: {}}", role=clusterpb.ROLE_WORKER)


def test_the_endpoint_of_kubeadm_is_a_fact_of_the_cluster() -> None:
    """clusterConfiguration.controlPlaneEndpoint is distinguished from the spec."""
    got = carried("clusterConfiguration: {controlPlaneEndpoint: '[fd00::1]:7443'}").cluster.endpoint
    assert (got.host, got.port) == ("fd00::1", 7443)
