"""What a node must reach without its proxy: through one, it would neither join the cluster nor reach its services."""

from collections.abc import Iterator, Mapping

from slipway.bootstrapper.assembly.networks import DEFAULT_SERVICES
from slipway.bootstrapper.engines.endpoint import bare_host
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb

_ITSELF = ("localhost", "127.0.0.1", "::1")
_METADATA = ("169.254.169.254",)
_METADATA_OF: Mapping[str, tuple[str, ...]] = {
    "aws": (*_METADATA, "fd00:ec2::254"),
    "azure": (*_METADATA, "168.63.129.16"),
    "gcp": (*_METADATA, "metadata.google.internal"),
    "openstack": (*_METADATA, "fe80::a9fe:a9fe"),
}
"""Where the machines of an infrastructure reach it.

Sources: EC2 user guide, "Use IMDS"; Azure, "What is IP address 168.63.129.16?"; Compute Engine, "About VM metadata";
Nova administration guide, "Metadata service". An infrastructure that is not here has the address that most have.
"""
_DOMAIN = "cluster.local"
"""Domain of services where a cluster says none (cluster.proto)."""


def complete_no_proxy(
    os: ospb.OperatingSystem, cluster: clusterpb.Cluster, kubernetes: kubernetespb.Kubernetes, *, infrastructure: str
) -> None:
    """Add to the proxies of a machine, in place, what its node must reach directly; not where the spec forbids it."""
    hosts = dict.fromkeys(direct_hosts(cluster, kubernetes, infrastructure=infrastructure))
    for proxy in _proxies(os):
        if (proxy.http_proxy or proxy.https_proxy) and not proxy.no_proxy_only:
            known = set(proxy.no_proxy)
            proxy.no_proxy.extend(host for host in hosts if host and host not in known)
        proxy.ClearField("no_proxy_only")


def _proxies(os: ospb.OperatingSystem) -> Iterator[ospb.Proxy]:
    if os.HasField("proxy"):
        yield os.proxy
    if os.containerd.HasField("proxy"):
        yield os.containerd.proxy


def direct_hosts(
    cluster: clusterpb.Cluster, kubernetes: kubernetespb.Kubernetes, *, infrastructure: str
) -> Iterator[str]:
    """Give hosts, domains and networks that the nodes of a cluster reach directly.

    Addresses that only the machine knows are not among them: where they matter, they are in a network of the list, or
    the spec names it.
    """
    yield from _ITSELF
    yield bare_host(cluster.endpoint)
    yield from cluster.pod_cidrs
    yield from cluster.service_cidrs or (DEFAULT_SERVICES,)
    for address in (kubernetes.node.node_ip, kubernetes.control_plane.advertise_address):
        if address.value:
            yield from address.value.split(",")
    yield from (".svc", f".{cluster.service_domain or _DOMAIN}")
    yield from _METADATA_OF.get(infrastructure, _METADATA)
