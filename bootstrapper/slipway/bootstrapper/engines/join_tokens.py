"""How machines join a cluster: by tokens, which are Secrets in it, of a form that its engine declares.

The controller, which knows no engine, makes such a Secret before a machine gets its user data, keeps it for as long as
the machine may need it, and lets it expire. The machine that creates the cluster makes the cluster's first one itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from slipway.v1alpha1 import cluster_pb2 as clusterpb

Values = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class JoinTokens:
    """What the Secret of a token holds beside its id, its secret and its expiry.

    The Secret is in the namespace kube-system, of the type bootstrap.kubernetes.io/token.

    Attributes:
        worker: for a machine that joins as a worker.
        control_plane: for a machine that joins as a control plane.
    """

    worker: Values
    control_plane: Values

    def values(self, role: clusterpb.Role.ValueType) -> Values:
        """Give what the token of a joining machine holds, by its role."""
        return self.worker if role == clusterpb.ROLE_WORKER else self.control_plane
