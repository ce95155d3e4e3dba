"""What may stand at the host's path of a component's volume: the kubelet takes no pod with another word."""

from collections.abc import Iterator

from slipway.contract.errors import Violation
from slipway.contract.source_position import did_you_mean
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb

_TYPES = ("DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice")
"""Those of HostPathType in k8s.io/api/core/v1."""


def violations(kubernetes: kubernetespb.Kubernetes, path: str) -> Iterator[Violation]:
    """Give a violation for each volume of a control-plane component whose type Kubernetes does not have."""
    for component in ("api_server", "controller_manager", "scheduler"):
        for index, volume in enumerate(getattr(kubernetes.control_plane, component).volumes):
            if volume.path_type not in ("", *_TYPES):
                meant = did_you_mean(volume.path_type, _TYPES)
                hint = f"did you mean {meant}?" if meant else f"there are {', '.join(_TYPES)}"
                where = f"{path}.control_plane.{component}.volumes[{index}].path_type"
                yield Violation(where, f"is no type that Kubernetes has; {hint}")
