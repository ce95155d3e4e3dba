"""What nodes reach without their proxy."""

import pytest

from slipway.bootstrapper.assembly.direct_hosts import complete_no_proxy
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb

URL = "http://proxy.example.com:3128"
CLUSTER = clusterpb.Cluster(
    endpoint=clusterpb.Endpoint(host="api.example.com"), pod_cidrs=["10.244.0.0/16"], service_domain="example.internal"
)
KUBERNETES = kubernetespb.Kubernetes(
    node=kubernetespb.NodeRegistration(node_ip=contentpb.MachineText(value="192.0.2.4,2001:db8::4"))
)
ADDED = [
    *("localhost", "127.0.0.1", "::1", "api.example.com", "10.244.0.0/16", "10.96.0.0/12"),
    *("192.0.2.4", "2001:db8::4", ".svc", ".example.internal", "169.254.169.254"),
]


@pytest.mark.parametrize(
    ("proxy", "wanted", "reason"),
    [
        (ospb.Proxy(http_proxy=URL), ADDED, "all that is known"),
        (
            ospb.Proxy(https_proxy=URL, no_proxy=["a", ".svc"]),
            ["a", ".svc", *(entry for entry in ADDED if entry != ".svc")],
            "",
        ),
        (ospb.Proxy(http_proxy=URL, no_proxy=["a"], no_proxy_only=True), ["a"], "the spec's list is complete"),
        (ospb.Proxy(no_proxy=["a"]), ["a"], "there is no proxy"),
    ],
)
def test_the_list_is_completed(proxy: ospb.Proxy, wanted: list[str], reason: str) -> None:
    """For the whole system and for containerd; a bundle never has the setting."""
    os = ospb.OperatingSystem(proxy=proxy, containerd=ospb.Containerd(proxy=proxy))
    complete_no_proxy(os, CLUSTER, KUBERNETES, infrastructure="")
    for completed in (os.proxy, os.containerd.proxy):
        assert list(completed.no_proxy) == wanted, reason
        assert not completed.HasField("no_proxy_only")


@pytest.mark.parametrize("host", ["fd00::1", "[fd00::1]"])
def test_the_address_of_the_cluster_has_no_brackets(host: str) -> None:
    """Programs compare the list with addresses, and they know none with brackets."""
    os = ospb.OperatingSystem(proxy=ospb.Proxy(http_proxy=URL))
    cluster = clusterpb.Cluster(endpoint=clusterpb.Endpoint(host=host, port=6443))
    complete_no_proxy(os, cluster, KUBERNETES, infrastructure="")
    assert [entry for entry in os.proxy.no_proxy if "fd00" in entry] == ["fd00::1"]


def test_a_system_without_a_proxy_stays_as_it_is() -> None:
    """Nothing comes into being."""
    os = ospb.OperatingSystem()
    complete_no_proxy(os, CLUSTER, KUBERNETES, infrastructure="")
    assert os == ospb.OperatingSystem()


METADATA = [
    ("aws", ["169.254.169.254", "fd00:ec2::254"]),
    ("azure", ["169.254.169.254", "168.63.129.16"]),
    ("gcp", ["169.254.169.254", "metadata.google.internal"]),
    ("openstack", ["169.254.169.254", "fe80::a9fe:a9fe"]),
    ("other", ["169.254.169.254"]),
]


@pytest.mark.parametrize(("infrastructure", "services"), METADATA)
def test_the_infrastructure_itself_is_reached_directly(infrastructure: str, services: list[str]) -> None:
    """By each address and name that its machines use for its services."""
    os = ospb.OperatingSystem(proxy=ospb.Proxy(http_proxy=URL))
    complete_no_proxy(os, CLUSTER, KUBERNETES, infrastructure=infrastructure)
    assert list(os.proxy.no_proxy) == [*ADDED[:-1], *services]
