"""Networks of pods and services that no cluster can have."""

import pytest

from slipway.bootstrapper.assembly.networks import violations
from slipway.bootstrapper.assembly.subject import check
from slipway.contract.errors import SpecInvalid
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb

INIT, CONTROL_PLANE, WORKER = clusterpb.ROLE_INIT, clusterpb.ROLE_CONTROL_PLANE, clusterpb.ROLE_WORKER
POD, SERVICE = "cluster.pod_cidrs", "cluster.service_cidrs"


@pytest.mark.parametrize(
    ("pods", "services", "expected", "reason"),
    [
        (["192.168.0.0/16"], ["10.96.0.0/12"], [], "the usual ones"),
        (["192.168.0.0/16"], [], [], "the default network of services"),
        ([], ["10.0.0.0/12"], [], "no pods"),
        (["192.168.0.0/16", "fd00:1::/48"], ["10.96.0.0/16", "fd00:2::/108"], [], "one of each family"),
        (["10.96.0.0/16"], ["10.96.0.0/12"], [f"{SERVICE}[0]"], "services hold the pods"),
        (["10.0.0.0/12"], ["10.1.0.0/16"], [f"{SERVICE}[0]"], "pods hold the services"),
        (["10.0.0.0/16"], ["10.0.0.0/16"], [f"{SERVICE}[0]"], "the same"),
        (["10.0.0.0/16", "fd00::/48"], ["10.1.0.0/16", "fd00::/108"], [f"{SERVICE}[1]"], "only those of IPv6"),
        (["10.96.0.0/16"], [], [f"{POD}[0]"], "pods on the default network of services"),
        (["10.0.0.0/16", "10.0.1.0/24"], ["10.1.0.0/16"], [f"{POD}[1]", f"{POD}[1]"], "pods on pods, of one family"),
        (["10.0.0.0/16", "10.2.0.0/16"], ["10.1.0.0/16"], [f"{POD}[1]"], "two of one family"),
        (["192.168.0.0/16"], ["10.0.0.0/11"], [f"{SERVICE}[0]"], "too large for IPv4"),
        (["192.168.0.0/16"], ["fd00::/107"], [f"{SERVICE}[0]"], "too large for IPv6"),
        (["192.168.0.0/16"], ["10.0.0.0/30"], [f"{SERVICE}[0]"], "too small for services"),
        (["192.168.0.0/16"], ["10.0.0.0/29"], [], "large enough for the API server"),
        (["192.168.0.0/24"], ["10.0.0.0/28"], [], "just large enough"),
        (["192.168.0.0/25"], ["10.0.0.0/28"], [f"{POD}[0]"], "too small for the pods of one node"),
        (["fd00::/65"], ["10.0.0.0/28"], [f"{POD}[0]"], "too small for the pods of one node, of IPv6"),
        (["10.0.0.0/8"], ["192.168.0.0/24"], [], "as many nodes as can be"),
        (["16.0.0.0/7"], ["192.168.0.0/24"], [], "the controller manager shares out any network of IPv4"),
        (["fd00::/48"], ["192.168.0.0/24"], [], "as many nodes as can be, of IPv6"),
        (["fd00::/47"], ["192.168.0.0/24"], [f"{POD}[0]"], "more nodes than can be, of IPv6"),
        (["no network"], ["10.0.0.0/33"], [], "what is no network is told by the grammar"),
    ],
)
def test_networks_of_a_control_plane(pods: list[str], services: list[str], expected: list[str], reason: str) -> None:
    """Each is named by its path, with what to do."""
    cluster = clusterpb.Cluster(pod_cidrs=pods, service_cidrs=services)
    for role in (INIT, CONTROL_PLANE):
        found = list(violations(cluster, role))
        assert [one.path for one in found] == expected, reason
        assert all(one.remedy for one in found), reason


def test_a_worker_may_join_what_others_made() -> None:
    """Of its cluster's networks only those that are stated have to be apart: the rest is its control plane's matter."""
    mine = clusterpb.Cluster(pod_cidrs=["10.96.0.0/16", "10.97.0.0/16"])
    assert list(violations(mine, WORKER)) == []
    mine.service_cidrs.append("10.96.0.0/24")
    assert [violation.path for violation in violations(mine, WORKER)] == [f"{SERVICE}[0]"]


def test_sizes_are_told_as_they_may_be() -> None:
    """The remedy is a prefix that is taken: it is tried."""
    cluster = clusterpb.Cluster(pod_cidrs=["192.168.0.0/30"], service_cidrs=["10.0.0.0/8"])
    small, large = violations(cluster, INIT)
    assert (small.remedy, large.remedy) == ("choose /24 or larger", "choose /12 or smaller")
    taken = clusterpb.Cluster(pod_cidrs=["192.168.0.0/24"], service_cidrs=["10.0.0.0/12"])
    assert list(violations(taken, INIT)) == []


def test_a_spec_is_refused_for_its_networks() -> None:
    """As the whole check of a question does, with the field as people write it."""
    subject = bootstrappb.Subject()
    subject.cluster.name, subject.cluster.kubernetes_version = "demo", "v1.34.0"
    subject.cluster.endpoint.host = "api.example.com"
    subject.machine.name, subject.machine.role = "demo-0", INIT
    subject.cluster.pod_cidrs.append("10.96.0.0/16")
    with pytest.raises(SpecInvalid) as error:
        check(subject)
    (violation,) = error.value.violations
    assert violation.path == "cluster.podCidrs[0]"
    assert violation.remedy == "choose another network, or set cluster.serviceCidrs"


def test_who_shares_out_otherwise_is_believed() -> None:
    """With another mask for nodes, or none, kubeadm compares with that."""
    cluster = clusterpb.Cluster(pod_cidrs=["192.168.0.0/26"])
    assert list(violations(cluster, INIT))
    assert list(violations(cluster, INIT, arguments=["node-cidr-mask-size"])) == []
