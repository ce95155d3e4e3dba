"""What every part of the k0s engine needs to know of the machine, beside what every engine does."""

from dataclasses import dataclass
from functools import partial

from slipway.bootstrapper.engines import request
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb

NAME = "k0s"
OPTIONS = "engine_options.k0s"

API_PORT = 6443
JOIN_PORT = 9443
"""Port of k0s' own API, by which control planes join. It must be reachable at the cluster's endpoint."""

_PROGRAM = "/usr/local/bin/k0s"


@dataclass(frozen=True)
class K0sRequest(request.PlanRequest):
    """One machine's intent with k0s' options."""

    options: specpb.K0sOptions

    @property
    def program(self) -> str:
        """Path of k0s on the machine."""
        return self.options.program or _PROGRAM

    @property
    def is_node(self) -> bool:
        """Whether the machine appears as a node: a worker does, a control plane unless said otherwise."""
        if not self.is_control_plane:
            return True
        return not self.options.HasField("control_plane_nodes") or self.options.control_plane_nodes

    @property
    def joins_control_plane(self) -> bool:
        """Whether the machine joins as a control plane."""
        return self.intent.role == clusterpb.ROLE_CONTROL_PLANE

    @property
    def api_port(self) -> int:
        """Port of the machine's API server."""
        return self.kubernetes.control_plane.bind_port or API_PORT

    @property
    def uses_kine(self) -> bool:
        """Whether the cluster is stored in a database, by kine."""
        return self.options.HasField("kine_data_source")


root_file = partial(request.root_file, made_by=NAME)
"""Make a file that belongs to root."""
