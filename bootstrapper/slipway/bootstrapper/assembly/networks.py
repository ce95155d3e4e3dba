"""Networks of pods and services that no cluster can have, reported before there is a machine.

The rules are Kubernetes' own, of whatever engine a cluster is; each has its source where it is checked. A cluster whose
pods and services share addresses starts, and then loses packets (Kubernetes documentation, "Cluster networking": the
networks of pods, services and nodes must not overlap).
"""

from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from itertools import combinations

from slipway.contract.errors import Violation
from slipway.v1alpha1 import cluster_pb2 as clusterpb

Network = IPv4Network | IPv6Network
_Named = tuple[str, Network]

DEFAULT_SERVICES = "10.96.0.0/12"
"""Network of services where a cluster says none (cluster.proto)."""

_PODS, _SERVICES = "cluster.pod_cidrs", "cluster.service_cidrs"
_MOST_SERVICE_BITS = 20
"""Source: validateClusterIPFlags of the API server."""
_LEAST_SERVICES = 8
"""Source: ServiceIPRange of the API server."""
NODE_MASKS = {4: 24, 6: 64}
"""What each node gets of the pods' network by default: flags --node-cidr-mask-size-* of the controller manager."""
MOST_NODE_BITS = 16
"""Source: clusterSubnetMaxDiff of the controller manager's CIDR allocator, which it checks for IPv6."""
OWN_SHARES = frozenset(
    {"allocate-node-cidrs", "node-cidr-mask-size", "node-cidr-mask-size-ipv4", "node-cidr-mask-size-ipv6"}
)
"""Arguments of the controller manager that say how the pods' network is shared out to nodes."""


def violations(
    cluster: clusterpb.Cluster, role: clusterpb.Role.ValueType, *, arguments: Iterable[str] = ()
) -> Iterator[Violation]:
    """Give what is wrong with a cluster's networks; texts that are no networks are reported elsewhere.

    Args:
        cluster: the cluster's facts.
        arguments: names of the controller manager's arguments. Where one says how pods' addresses are shared out, what
            a node gets is not judged.
        role: role of the machine. A worker's control plane may be of another provider, with own rules: for it only
            those networks count that are stated, and only that they are apart.
    """
    pods, services = _networks(_PODS, cluster.pod_cidrs), _networks(_SERVICES, cluster.service_cidrs)
    yield from _overlaps([*pods, *services])
    if role == clusterpb.ROLE_WORKER:
        return
    if not cluster.service_cidrs:
        yield from _on_the_default(pods)
    for networks in (pods, services):
        yield from _families(networks)
    if OWN_SHARES.isdisjoint(arguments):
        yield from _shares(pods)
    yield from _small(services)
    yield from _large(services)


def _networks(name: str, texts: Sequence[str]) -> list[_Named]:
    entries = []
    for index, text in enumerate(texts):
        try:
            entries.append((f"{name}[{index}]", ip_network(text)))
        except ValueError:
            continue
    return entries


def _overlaps(networks: Sequence[_Named]) -> Iterator[Violation]:
    reported = set()
    for (first, network), (second, other) in combinations(networks, 2):
        if second not in reported and network.version == other.version and network.overlaps(other):
            reported.add(second)
            whose = "pods" if first.startswith(_PODS) else "services"
            yield Violation(second, f"overlaps a network of {whose}", remedy="choose networks that share no address")


def _on_the_default(pods: Sequence[_Named]) -> Iterator[Violation]:
    default = ip_network(DEFAULT_SERVICES)
    for name, pod_network in pods:
        if pod_network.version == default.version and pod_network.overlaps(default):
            reason = f"overlaps {DEFAULT_SERVICES}, the network of services where serviceCidrs is unset"
            yield Violation(name, reason, remedy="choose another network, or set cluster.serviceCidrs")


def _families(networks: Sequence[_Named]) -> Iterator[Violation]:
    seen = set()
    for where, network in networks:
        if network.version in seen:
            reason = f"is the second IPv{network.version} network of its list"
            yield Violation(where, reason, remedy="keep one network of IPv4, one of IPv6, or one of each")
        seen.add(network.version)


def _shares(pods: Sequence[_Named]) -> Iterator[Violation]:
    for where, pod_network in pods:
        share = NODE_MASKS[pod_network.version]
        if pod_network.prefixlen > share:
            reason = f"is smaller than the /{share} that each node gets of it"
            yield Violation(where, reason, remedy=f"choose /{share} or larger")
        if isinstance(pod_network, IPv6Network) and share - pod_network.prefixlen > MOST_NODE_BITS:
            reason = f"is larger than the controller manager can share out, a /{share} to each node"
            yield Violation(where, reason, remedy=f"choose /{share - MOST_NODE_BITS} or smaller")


def _small(services: Sequence[_Named]) -> Iterator[Violation]:
    for where, service_network in services:
        if service_network.num_addresses < _LEAST_SERVICES:
            remedy = f"choose /{service_network.max_prefixlen - (_LEAST_SERVICES - 1).bit_length()} or larger"
            yield Violation(where, f"has fewer than {_LEAST_SERVICES} addresses", remedy=remedy)


def _large(services: Sequence[_Named]) -> Iterator[Violation]:
    for where, service_network in services:
        longest = service_network.max_prefixlen - _MOST_SERVICE_BITS
        if service_network.prefixlen < longest:
            reason = "is larger than the API server takes for services"
            yield Violation(where, reason, remedy=f"choose /{longest} or smaller")
