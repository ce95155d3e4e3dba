"""k0s' configuration of a control-plane machine."""

from collections.abc import Mapping, Sequence
from ipaddress import ip_network

from slipway.bootstrapper.engines.arguments import argument_map
from slipway.bootstrapper.engines.component_files import API_SERVER, CONTROLLER_MANAGER, SCHEDULER, ComponentFiles
from slipway.bootstrapper.engines.documents.spliced import Text
from slipway.bootstrapper.engines.endpoint import bare_host
from slipway.bootstrapper.engines.k0s.documents import (
    Api,
    ClusterConfig,
    ClusterSpec,
    Component,
    DualStack,
    Etcd,
    ExternalCluster,
    Images,
    Kine,
    KubeProxy,
    Network,
    Storage,
)
from slipway.bootstrapper.engines.k0s.request import OPTIONS, K0sRequest
from slipway.bootstrapper.engines.request import KUBERNETES
from slipway.bootstrapper.engines.texts import machine_text, secret_value
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb

_PREFIX = "/registry"
"""Keys of an etcd elsewhere begin with it: the API server's default. k0s requires that it is written."""

_PAIR = 2


def cluster_config(request: K0sRequest, files: ComponentFiles) -> ClusterConfig:
    """Give the configuration; `files` are those of the control plane's components."""
    control_plane = request.kubernetes.control_plane
    repository = request.kubernetes.images.repository
    return ClusterConfig(
        spec=ClusterSpec(
            api=_api(request, files),
            controller_manager=_component(request, files, CONTROLLER_MANAGER, control_plane.controller_manager),
            scheduler=_component(request, files, SCHEDULER, control_plane.scheduler),
            storage=_storage(request),
            network=_network(request),
            images=Images(repository=repository) if repository else None,
        )
    )


def _api(request: K0sRequest, files: ComponentFiles) -> Api:
    control_plane = request.kubernetes.control_plane
    return Api(
        address=_address(request),
        external_address=bare_host(request.intent.cluster.endpoint),
        port=request.api_port,
        sans=tuple(control_plane.api_server_sans),
        extra_args=_arguments(request, files, API_SERVER, control_plane.api_server),
    )


def _address(request: K0sRequest) -> Text:
    control_plane = request.kubernetes.control_plane
    return machine_text(control_plane.advertise_address) if control_plane.HasField("advertise_address") else ""


def _component(
    request: K0sRequest, files: ComponentFiles, name: str, component: kubernetespb.Component
) -> Component | None:
    arguments = _arguments(request, files, name, component)
    return Component(extra_args=arguments) if arguments else None


def _arguments(
    request: K0sRequest, files: ComponentFiles, name: str, component: kubernetespb.Component
) -> dict[str, Text]:
    field = name.replace("-", "_")
    return argument_map(
        request.remarks,
        component.arguments,
        files.arguments.get(name, {}),
        feature=f"kubernetes.control_plane.{field}.arguments",
        path=f"{KUBERNETES}.control_plane.{field}.arguments",
    )


def _storage(request: K0sRequest) -> Storage:
    if request.uses_kine:
        source = secret_value(request.options.kine_data_source, f"{OPTIONS}.kine_data_source")
        return Storage(type="kine", kine=Kine(data_source=source))
    etcd = request.kubernetes.etcd
    if etcd.HasField("external"):
        external = ExternalCluster(
            endpoints=tuple(etcd.external.endpoints),
            etcd_prefix=_PREFIX,
            ca_file=etcd.external.ca_file,
            client_cert_file=etcd.external.cert_file,
            client_key_file=etcd.external.key_file,
        )
        return Storage(type="etcd", etcd=Etcd(external_cluster=external))
    arguments = argument_map(
        request.remarks,
        etcd.local.arguments,
        {},
        feature="kubernetes.etcd.local.arguments",
        path=f"{KUBERNETES}.etcd.local.arguments",
    )
    return Storage(type="etcd", etcd=Etcd(peer_address=_address(request), extra_args=arguments))


def _network(request: K0sRequest) -> Network:
    cluster, proxy = request.intent.cluster, request.kubernetes.control_plane.kube_proxy
    pods, services = _by_family(cluster.pod_cidrs), _by_family(cluster.service_cidrs)
    dual = None
    if len(pods) == _PAIR and len(services) == _PAIR:
        dual = DualStack(enabled=True, pods=pods[6], services=services[6])
    return Network(
        pods=next(iter(pods.values()), ""),
        services=next(iter(services.values()), ""),
        cluster_domain=cluster.service_domain,
        dual_stack=dual,
        provider=request.options.network_provider,
        kube_proxy=KubeProxy(disabled=proxy.disabled) if proxy.HasField("disabled") else None,
    )


def _by_family(networks: Sequence[str]) -> Mapping[int, str]:
    """Give networks by version of IP, that of IPv4 first."""
    return dict(sorted((ip_network(text).version, text) for text in networks))
