"""What every part of the kubeadm engine needs to know of the machine, beside what every engine does."""

from dataclasses import dataclass
from functools import partial

from slipway.bootstrapper.engines import request
from slipway.bootstrapper.engines.kubeadm.kubeadm_api import KubeadmApi
from slipway.bootstrapper.engines.kubeadm.layout import Layout
from slipway.bootstrapper.engines.kubeadm.remarks import KubeadmRemarks
from slipway.bootstrapper.engines.kubernetes_version import KubernetesVersion
from slipway.v1alpha1 import spec_pb2 as specpb

NAME = "kubeadm"
OPTIONS = f"engine_options.{NAME}"
"""Path and feature of the engine's own options."""


@dataclass(frozen=True)
class EngineRequest(request.PlanRequest):
    """One machine's intent with what was decided about it before."""

    remarks: KubeadmRemarks
    options: specpb.KubeadmOptions
    kubeadm_version: KubernetesVersion
    api: KubeadmApi
    layout: Layout
    imported: bool


root_file = partial(request.root_file, made_by=NAME)
"""Make a file that belongs to root."""
