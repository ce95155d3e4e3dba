"""Flags of an intent that no bootstrap engine sees: with one that its program does not have, the node never starts."""

import pytest

from tests.bootstrapper.asking import asked, bootstrapper, question, refused

KUBELET = "{kubernetes: {node: {kubeletArguments: [{name: v, value: '2'}, {name: never-a-flag, value: a}]}}}"
API_SERVER = (
    "{target: {infrastructure: aws}, kubernetes: {controlPlane: "
    "{apiServer: {arguments: [{name: insecure-port, value: '0'}]}}}}"
)


@pytest.mark.parametrize("provisioner", ["talos", "cloud-init"])
async def test_a_flag_that_the_kubelet_does_not_have_is_refused(provisioner: str) -> None:
    """By its field, for a system that becomes a node by itself as for one that an engine makes a node of."""
    error = await refused(asked(question(KUBELET), provisioner))
    assert error is not None
    (violation,) = error.violations
    assert violation.path == "SlipwayConfig/k: spec.kubernetes.node"
    assert violation.description.startswith("kubeletArguments[1] names the flag never-a-flag")
    assert violation.remedy


@pytest.mark.parametrize("role", ["Init", "ControlPlane"])
async def test_every_control_plane_of_an_intent_starts_its_own_components(role: str) -> None:
    """A machine that joins has them of its own spec too, where kubeadm takes those of the cluster."""
    error = await refused(asked(question(API_SERVER, role=role), "talos"))
    assert error is not None
    described = [violation.description for violation in error.violations]
    assert [text for text in described if text.startswith("apiServer.arguments[0] names the flag insecure-port")]


async def test_components_of_a_worker_do_not_matter() -> None:
    """It starts none."""
    error = await refused(asked(question(API_SERVER), "talos"))
    assert error is None or "flag" not in str(error.violations)


async def test_a_flag_that_may_be_left_out_is_left_out() -> None:
    """The spec says so, and the answer reports it."""
    optional = KUBELET[:-1] + ", optionalFeatures: [kubernetes.node.kubelet_arguments]}"
    answer = await bootstrapper().user_data(asked(question(optional), "talos"))
    assert b"never-a-flag" not in answer.user_data
    assert [warning.origin.path for warning in answer.diagnostics if "never-a-flag" in warning.message]


async def test_a_flag_of_a_version_without_a_table_is_a_warning() -> None:
    """Whether that kubelet has it is not known."""
    asking = question(KUBELET)
    asking.subject.cluster.kubernetes_version = asking.subject.machine.kubernetes_version = "v1.36.1"
    answer = await bootstrapper().user_data(asked(asking, "talos"))
    assert [warning.code for warning in answer.diagnostics if "never-a-flag" in warning.message] == ["VERSION_UNKNOWN"]
