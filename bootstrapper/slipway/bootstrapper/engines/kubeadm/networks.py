"""Networks that Kubernetes itself takes, and kubeadm does not.

Source: kubeadm's ValidateNetworking and ValidatePodSubnetNodeMask, with its constants MinimumAddressesInServiceSubnet
(10) and PodSubnetNodeMaskMaxDiff (16). What no cluster can have is refused before, whatever its engine is.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from ipaddress import IPv4Network, IPv6Network, ip_network

from slipway.bootstrapper.assembly.networks import MOST_NODE_BITS, NODE_MASKS, OWN_SHARES
from slipway.bootstrapper.engines.kubeadm.request import EngineRequest

_LEAST_SERVICES = 10


def check_networks(request: EngineRequest) -> None:
    """Refuse networks of a control plane that kubeadm refuses on the machine."""
    if not request.is_control_plane:
        return
    cluster = request.intent.cluster
    for where, network in _networks("service_cidrs", cluster.service_cidrs):
        if network.num_addresses < _LEAST_SERVICES:
            request.remarks.refuse(
                "kubernetes.cluster.service_cidrs",
                where,
                f"has fewer than {_LEAST_SERVICES} addresses, which kubeadm refuses",
                remedy=f"choose /{network.max_prefixlen - (_LEAST_SERVICES - 1).bit_length()} or larger",
            )
    arguments = {argument.name for argument in request.kubernetes.control_plane.controller_manager.arguments}
    if not OWN_SHARES.isdisjoint(arguments):
        return
    for where, network in _networks("pod_cidrs", cluster.pod_cidrs):
        largest = NODE_MASKS[network.version] - MOST_NODE_BITS
        if network.prefixlen < largest:
            request.remarks.refuse(
                "kubernetes.cluster.pod_cidrs",
                where,
                "is larger than kubeadm takes for pods",
                remedy=f"choose /{largest} or smaller",
            )


def _networks(field: str, texts: Sequence[str]) -> Iterator[tuple[str, IPv4Network | IPv6Network]]:
    for index, text in enumerate(texts):
        # What is no network is refused by the grammar of the field.
        with suppress(ValueError):
            yield f"intent.cluster.{field}[{index}]", ip_network(text)
