"""The cluster's endpoint as programs write it. Its host may be an IPv6 address, with brackets or without."""

from slipway.rpc.addresses import joined
from slipway.v1alpha1 import cluster_pb2 as clusterpb

DEFAULT_PORT = 6443


def host_port(endpoint: clusterpb.Endpoint, *, port: int = 0) -> str:
    """Give "host:port", with brackets around an IPv6 address; "" where the cluster has no endpoint yet.

    Args:
        endpoint: that of the cluster.
        port: takes the place of the endpoint's own, unless it is 0.
    """
    return joined(endpoint.host, port or endpoint.port or DEFAULT_PORT) if endpoint.host else ""


def bare_host(endpoint: clusterpb.Endpoint) -> str:
    """Give the host where no port follows: an IPv6 address has no brackets."""
    return endpoint.host.removeprefix("[").removesuffix("]")
