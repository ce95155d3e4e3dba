"""The cluster's endpoint as programs write it."""

from slipway.v1alpha1 import cluster_pb2 as clusterpb

DEFAULT_PORT = 6443


def host_port(cluster: clusterpb.Cluster) -> str:
    """Give "host:port", with brackets around an IPv6 address; "" where the cluster has no endpoint yet."""
    endpoint = cluster.endpoint
    if not endpoint.host:
        return ""
    host = endpoint.host
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return f"{host}:{endpoint.port or DEFAULT_PORT}"
