"""What every part of the engine needs to know of the machine, taken from the bundle once."""

from dataclasses import dataclass

from slipway.bootstrapper.engines.kubeadm.kubernetes_version import KubeadmApi, KubernetesVersion
from slipway.bootstrapper.engines.kubeadm.layout import Layout
from slipway.bootstrapper.engines.kubeadm.remarks import Remarks
from slipway.contract.content import normal_segments
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import spec_pb2 as specpb
from slipway.v1alpha1.content_pb2 import Content

NAME = "kubeadm"
KUBERNETES = "intent.kubernetes"


@dataclass(frozen=True)
class EngineRequest:
    """One machine's intent with what was decided about it before."""

    intent: planpb.Intent
    options: specpb.KubeadmOptions
    version: KubernetesVersion
    kubeadm_version: KubernetesVersion
    api: KubeadmApi
    layout: Layout
    imported: bool
    remarks: Remarks

    @property
    def kubernetes(self) -> kubernetespb.Kubernetes:
        """Give what the spec says about Kubernetes."""
        return self.intent.kubernetes

    @property
    def creates_cluster(self) -> bool:
        """Tell whether this machine runs `kubeadm init`."""
        return self.intent.role == clusterpb.ROLE_INIT

    @property
    def is_control_plane(self) -> bool:
        """Tell whether this machine runs a control plane."""
        return self.intent.role in (clusterpb.ROLE_INIT, clusterpb.ROLE_CONTROL_PLANE)


def root_file(path: str, content: Content, *, mode: int, source: diagnosticpb.Origin | None = None) -> ospb.File:
    """Make a file that belongs to root; `source` is the origin of the item that it is made of."""
    file = ospb.File(path=path, mode=mode, owner="root", group="root")
    file.content.segments.extend(normal_segments(content))
    if source is not None:
        file.origin.CopyFrom(source)
    file.origin.made_by.append(NAME)
    return file
