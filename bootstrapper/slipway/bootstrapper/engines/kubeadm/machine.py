"""What is said of this one machine: kubeadm's InitConfiguration or JoinConfiguration."""

from slipway.bootstrapper.engines.durations import go_duration
from slipway.bootstrapper.engines.kubeadm.bootstrap_tokens import tokens
from slipway.bootstrapper.engines.kubeadm.discovery import discovery
from slipway.bootstrapper.engines.kubeadm.documents import v1beta4
from slipway.bootstrapper.engines.kubeadm.documents.parts import (
    APIEndpoint,
    JoinControlPlane,
    Patches,
)
from slipway.bootstrapper.engines.kubeadm.node import node_registration
from slipway.bootstrapper.engines.kubeadm.request import EngineRequest
from slipway.bootstrapper.engines.texts import machine_text

_TIMEOUTS = {
    "control_plane_component": "control_plane_component_health_check",
    "kubelet": "kubelet_health_check",
    "kubernetes_api": "kubernetes_api_call",
    "etcd_api": "etcd_api_call",
    "tls_bootstrap": "tls_bootstrap",
    "discovery": "discovery",
}


def init_configuration(request: EngineRequest, *, patches: str) -> v1beta4.InitConfiguration:
    """Give the configuration of the machine that creates the cluster."""
    return v1beta4.InitConfiguration(
        bootstrap_tokens=tuple(tokens(request)),
        node_registration=node_registration(request),
        local_api_endpoint=_local_api_endpoint(request),
        skip_phases=tuple(request.options.skipped_phases),
        patches=Patches(directory=patches) if patches else None,
        timeouts=timeouts(request),
    )


def join_configuration(request: EngineRequest, *, patches: str) -> v1beta4.JoinConfiguration:
    """Give the configuration of a machine that joins."""
    control_plane = None
    if request.is_control_plane:
        control_plane = JoinControlPlane(local_api_endpoint=_local_api_endpoint(request))
    return v1beta4.JoinConfiguration(
        node_registration=node_registration(request),
        ca_cert_path=_ca_path(request),
        discovery=discovery(request),
        control_plane=control_plane,
        skip_phases=tuple(request.options.skipped_phases),
        patches=Patches(directory=patches) if patches else None,
        timeouts=timeouts(request),
    )


def _ca_path(request: EngineRequest) -> str:
    """Give where a joining machine writes the cluster's CA.

    The kubelet's configuration, which is the cluster's, reads it from the directory of certificates (clientCAFile), and
    kubeadm writes it there only if told. An imported spec keeps what it says.
    """
    directory = request.options.certificates_directory
    given = request.options.ca_path
    return given if given or request.imported or not directory else f"{directory.rstrip('/')}/ca.crt"


def timeouts(request: EngineRequest) -> v1beta4.Timeouts | None:
    """Give kubeadm's timeouts; None where the spec sets none."""
    fields = [*request.kubernetes.timeouts.ListFields(), *request.options.timeouts.ListFields()]
    values = {_TIMEOUTS[field.name]: go_duration(value) for field, value in fields if field.name in _TIMEOUTS}
    return v1beta4.Timeouts.model_validate(values) if values else None


def _local_api_endpoint(request: EngineRequest) -> APIEndpoint:
    control_plane = request.kubernetes.control_plane
    address = control_plane.advertise_address
    return APIEndpoint(
        advertise_address=machine_text(address) if control_plane.HasField("advertise_address") else "",
        bind_port=control_plane.bind_port,
    )
