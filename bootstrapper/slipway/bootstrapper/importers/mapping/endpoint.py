"""The address of the cluster's API server."""

import re

from slipway.bootstrapper.importers.kubeadm_config.v1beta2 import KubeadmConfigSpec
from slipway.bootstrapper.importers.mapping.context import Context
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.v1alpha1 import cluster_pb2 as clusterpb

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
