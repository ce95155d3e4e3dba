"""The address of the cluster's API server.

kubeadm's configuration may state one itself, beside the cluster's: which of them counts for what is decided here.
"""

import re

from slipway.bootstrapper.engines.endpoint import host_port
from slipway.bootstrapper.importers.foreign_config import ImportResult
from slipway.bootstrapper.importers.kubeadm_config.v1beta2 import KubeadmConfigSpec
from slipway.bootstrapper.importers.mapping.context import Context
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb

_ENDPOINT = re.compile(
    r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<host>[^:\[\]]+)|(?P<bare>[0-9A-Fa-f:]+))(?::(?P<port>\d{1,5}))?"
)


def endpoint(context: Context, place: Place, foreign: KubeadmConfigSpec, *, worker: bool) -> clusterpb.Cluster:
    """Give what clusterConfiguration.controlPlaneEndpoint says of the cluster; an empty one where it says nothing.

    Args:
        context: understands the text.
        place: that of the whole config.
        foreign: the config.
        worker: kubeadm reads no endpoint there, so that a fact of the machine in it is let be.
    """
    cluster = clusterpb.Cluster()
    config = foreign.cluster_configuration
    if config is not None and config.control_plane_endpoint:
        here, text = place.at("clusterConfiguration", "controlPlaneEndpoint"), config.control_plane_endpoint
        if worker and context.is_of_machine(text):
            return cluster
        match = _ENDPOINT.fullmatch(context.plain_in_kubeadm(here, text))
        if match is None:
            context.findings.refuse(here, "must be a host, with a port if need be")
            return cluster
        cluster.endpoint.host = match["ipv6"] or match["host"] or match["bare"]
        if match["port"]:
            cluster.endpoint.port = int(match["port"])
    return cluster


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
            discovery.token.endpoint = host_port(known)
    return spec
