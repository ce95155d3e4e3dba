"""What is wrong in a set, or has no effect there, is named where it stands, all at once."""

# ruff: noqa: E501  # the tables read best with one case a line

import pytest

from slipway.contract.source_position import SourceError
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.importers.manifest_texts import (
    CLASS,
    CLUSTER,
    TOPOLOGY,
    VARIABLES,
    by_name,
    manifests,
)

REFUSED = [
    (TOPOLOGY + CLASS.replace("class: small", "class: large"), "spec.topology.workers.machineDeployments[0].class", "its class"),
    (CLUSTER.replace("name: win}}", "name: lost}}"), "spec.template.spec.bootstrap.configRef", "the config is not among"),
    (CLUSTER.replace("replicas: 3", "replicsa: 3"), "spec.replicsa", "unknown field; did you mean replicas?"),
    (CLUSTER.replace("version: ${KUBERNETES_VERSION}", "version: 1.34"), "spec.version", "must be text: put"),
    (CLUSTER.replace("serviceDomain:", "serviceDomian:"), "spec.clusterNetwork.serviceDomian", "unknown field"),
    (CLUSTER.replace("name: windows, namespace", "name: linux, namespace") + "---\n" + CLUSTER, "metadata.name", "another document"),
    (CLUSTER.replace("stringData: {text: hello, unused: x}", "data: {text: '*'}"), "data.text", "must be base64"),
    ("- a\n", "", "must be a mapping of fields"),
    ("apiVersion: v1\nkind: [x]\n", "kind", "must be text"),
    ("a: [\n", "", "not YAML"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path", "message"), REFUSED, ids=[case[1] + case[2] for case in REFUSED])
def test_what_is_wrong_is_named(text: str, path: str, message: str) -> None:
    """Every refusal names file, line and path."""
    with pytest.raises(SourceError) as caught:
        manifests(text, variables=VARIABLES)
    problem = caught.value.problems[0]
    assert (problem.file, problem.path) == ("f.yaml", path)
    assert problem.message.startswith(message)
    assert problem.position is not None


def test_all_problems_of_all_configs_come_at_once() -> None:
    """A person sees everything that is wrong in one go."""
    text = CLUSTER.replace("imageRepository: r.example.com", "imageRepositry: x").replace(
        "[echo]", "[echo]\n      a: 1"
    )
    with pytest.raises(SourceError) as caught:
        manifests(text, variables=VARIABLES)
    assert [problem.message.partition(";")[0] for problem in caught.value.problems] == ["unknown field"] * 2


def test_an_endpoint_of_kubeadms_own_wins_on_control_planes() -> None:
    """As today: kubeadm's file names it, discovery and workers go to the cluster's."""
    own = "clusterConfiguration: {controlPlaneEndpoint: 'own.example.com:7443', "
    machines = by_name(manifests(CLUSTER.replace("clusterConfiguration: {", own), variables=VARIABLES))
    assert machines["c1-cp-init"].cluster.endpoint == clusterpb.Endpoint(host="own.example.com", port=7443)
    assert machines["c1-win"].cluster.endpoint.host == "10.0.0.9"
    assert machines["c1-cp-join"].spec.join.kubernetes.discovery.token.endpoint == "10.0.0.9:8443"
    assert not machines["c1-cp-init"].spec.join.kubernetes.HasField("discovery")


@pytest.mark.parametrize("host", ["fd00::1", "[fd00::1]"])
def test_discovery_goes_to_the_address_of_the_cluster(host: str) -> None:
    """However its Cluster writes it."""
    own = "clusterConfiguration: {controlPlaneEndpoint: 'own.example.com:7443', "
    text, variables = CLUSTER.replace("clusterConfiguration: {", own), {**VARIABLES, "CONTROL_PLANE_ENDPOINT_IP": host}
    machines = by_name(manifests(text, variables=variables))
    assert machines["c1-cp-join"].spec.join.kubernetes.discovery.token.endpoint == "[fd00::1]:8443"


def test_an_endpoint_in_a_workers_config_has_no_effect() -> None:
    """As today a worker's clusterConfiguration says nothing."""
    text = CLUSTER.replace("preKubeadmCommands: [echo]", "clusterConfiguration: {controlPlaneEndpoint: x.example.com}")
    assert by_name(manifests(text, variables=VARIABLES))["c1-win"].cluster.endpoint.host == "10.0.0.9"


def test_nothing_to_read_is_no_error() -> None:
    """A file without any of the kinds has no machines."""
    found = manifests("# nothing\n---\n")
    assert (found.machines, found.notes) == ((), ())
