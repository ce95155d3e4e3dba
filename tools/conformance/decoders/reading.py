"""What a decoder has read out of user data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb


@dataclass(frozen=True, slots=True)
class Reading:
    """What user data says.

    Attributes:
        state: the machine.
        kubernetes: what it says of the control plane, etcd, images and static pods; None where the decoder has no means
            to tell, as MachineState has no place for it.
        private_keys: private keys of the cluster (PEM), by their fields of ClusterCredentials.
    """

    state: statepb.MachineState
    kubernetes: kubernetespb.Kubernetes | None = None
    private_keys: Mapping[str, bytes] = field(default_factory=dict, repr=False)
