"""An endpoint that kubeadm's configuration states itself, beside the cluster's: which of them counts for what."""

from slipway.bootstrapper.importers.foreign_config import ImportResult
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb

DEFAULT_PORT = 6443


def cluster_of(facts: clusterpb.Cluster, result: ImportResult, *, role: clusterpb.Role.ValueType) -> clusterpb.Cluster:
    """Give the cluster's facts; an endpoint of kubeadm's own wins on control planes, as it does today."""
    cluster = clusterpb.Cluster()
    cluster.CopyFrom(facts)
    if result.cluster.HasField("endpoint"):
        endpoint = cluster.endpoint
        port = result.cluster.endpoint.port or endpoint.port
        if role != clusterpb.ROLE_WORKER or not endpoint.host:
            endpoint.CopyFrom(result.cluster.endpoint)
            if port:
                endpoint.port = port
    return cluster


def spec_of(
    facts: clusterpb.Cluster, result: ImportResult, *, role: clusterpb.Role.ValueType
) -> specpb.MachineBootstrapSpec:
    """Give the spec; with an endpoint of kubeadm's own, discovery still goes to the cluster's, as it does today."""
    spec = specpb.MachineBootstrapSpec()
    spec.CopyFrom(result.spec)
    known, own = facts.endpoint, result.cluster.endpoint
    if role == clusterpb.ROLE_CONTROL_PLANE and known.host and own.host and known != own:
        discovery = spec.join.kubernetes.discovery
        if not discovery.HasField("file") and not discovery.token.endpoint:
            host = f"[{known.host}]" if ":" in known.host else known.host
            discovery.token.endpoint = f"{host}:{known.port or DEFAULT_PORT}"
    return spec
