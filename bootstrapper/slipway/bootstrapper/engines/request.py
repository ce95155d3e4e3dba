"""What every part of an engine needs to know of the machine, taken from the bundle once."""

from dataclasses import dataclass

from slipway.bootstrapper.engines.kubernetes_version import (
    KubernetesVersion,
    KubernetesVersionError,
    parse_kubernetes_version,
)
from slipway.bootstrapper.engines.remarks import Remarks
from slipway.contract.content import normal_segments
from slipway.contract.errors import KubernetesVersionUnsupported, Violation
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1.content_pb2 import Content

KUBERNETES = "intent.kubernetes"
NODE = f"{KUBERNETES}.node"
VERSION_PATH = "intent.kubernetes_version"

PRIVATE = 0o600
GROUP_READABLE = 0o640


@dataclass(frozen=True)
class PlanRequest:
    """One machine's intent with what was decided about it before."""

    intent: planpb.Intent
    version: KubernetesVersion
    remarks: Remarks

    @property
    def kubernetes(self) -> kubernetespb.Kubernetes:
        """Give what the spec says about Kubernetes."""
        return self.intent.kubernetes

    @property
    def creates_cluster(self) -> bool:
        """Whether this machine creates the cluster."""
        return self.intent.role == clusterpb.ROLE_INIT

    @property
    def is_control_plane(self) -> bool:
        """Whether this machine runs a control plane."""
        return self.intent.role in (clusterpb.ROLE_INIT, clusterpb.ROLE_CONTROL_PLANE)


def supported_version(text: str, path: str, *, oldest: tuple[int, int]) -> KubernetesVersion:
    """Parse a version that an engine serves.

    Raises:
        KubernetesVersionUnsupported: it is invalid, or older than the oldest minor version of the engine.
    """
    lowest = f"v{oldest[0]}.{oldest[1]}.0"
    try:
        version = _parse(text, oldest)
    except KubernetesVersionError as error:
        raise KubernetesVersionUnsupported(
            f"{path}: {error}",
            violations=[Violation(path, f"{error}", remedy=f"choose {lowest} or newer")],
            metadata={"lowest": lowest},
        ) from None
    return version


def _parse(text: str, oldest: tuple[int, int]) -> KubernetesVersion:
    version = parse_kubernetes_version(text)
    if version.series < oldest:
        raise KubernetesVersionError(f"Kubernetes older than v{oldest[0]}.{oldest[1]} is not supported")
    return version


def root_file(
    path: str, content: Content, *, mode: int, made_by: str, source: diagnosticpb.Origin | None = None
) -> ospb.File:
    """Make a file that belongs to root; `source` is the origin of the item that it is made of."""
    file = ospb.File(path=path, mode=mode, owner="root", group="root")
    file.content.segments.extend(normal_segments(content))
    if source is not None:
        file.origin.CopyFrom(source)
    file.origin.made_by.append(made_by)
    return file
