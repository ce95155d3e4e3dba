"""initConfiguration and joinConfiguration: the node, how it finds the cluster, and how long kubeadm waits."""

from datetime import datetime

from google.protobuf import duration_pb2

from slipway.bootstrapper.importers.kubeadm_config.kubeadm_items import ApiEndpoint, BootstrapTokenDiscovery
from slipway.bootstrapper.importers.kubeadm_config.v1beta2 import (
    BootstrapToken,
    Discovery,
    InitConfiguration,
    JoinConfiguration,
    NodeRegistration,
    Timeouts,
)
from slipway.bootstrapper.importers.mapping.context import Context
from slipway.bootstrapper.importers.mapping.control_plane import arguments
from slipway.bootstrapper.importers.mapping.kubeconfig import kubeconfig
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import spec_pb2 as specpb

_EFFECTS = {
    "NoSchedule": kubernetespb.TAINT_EFFECT_NO_SCHEDULE,
    "PreferNoSchedule": kubernetespb.TAINT_EFFECT_PREFER_NO_SCHEDULE,
    "NoExecute": kubernetespb.TAINT_EFFECT_NO_EXECUTE,
}
_TIMEOUTS = {
    "control_plane_component": "control_plane_component_health_check_seconds",
    "kubelet": "kubelet_health_check_seconds",
    "kubernetes_api": "kubernetes_api_call_seconds",
    "etcd_api": "etcd_api_call_seconds",
    "tls_bootstrap": "tls_bootstrap_seconds",
    "discovery": "discovery_seconds",
}
_NO_TIME = "must be at least one second: kubeadm would give up at once. Leave it out for kubeadm's own time"


def set_init(context: Context, place: Place, config: InitConfiguration, spec: specpb.RoleOverrides) -> None:
    """Carry over initConfiguration."""
    kubernetes = spec.kubernetes
    for index, token in enumerate(config.bootstrap_tokens):
        kubernetes.bootstrap_tokens.append(_token(place.at("bootstrapTokens", index), token))
    if config.local_api_endpoint is not None:
        _set_endpoint(context, place.at("localAPIEndpoint"), config.local_api_endpoint, kubernetes)
    _set_shared(context, place, config, spec)


def set_join(context: Context, place: Place, config: JoinConfiguration, spec: specpb.RoleOverrides) -> None:
    """Carry over joinConfiguration."""
    if config.discovery is not None or config.ca_cert_path:
        _set_discovery(context, place, config, spec.kubernetes)
    if config.control_plane is not None and config.control_plane.local_api_endpoint is not None:
        here = place.at("controlPlane", "localAPIEndpoint")
        _set_endpoint(context, here, config.control_plane.local_api_endpoint, spec.kubernetes)
    _set_shared(context, place, config, spec)


def _set_shared(
    context: Context, place: Place, config: InitConfiguration | JoinConfiguration, spec: specpb.RoleOverrides
) -> None:
    options = specpb.KubeadmOptions(skipped_phases=config.skip_phases)
    if config.node_registration is not None:
        _set_node(context, place.at("nodeRegistration"), config.node_registration, spec.kubernetes)
        options.ignored_preflight_errors.extend(config.node_registration.ignore_preflight_errors)
    if config.patches is not None and config.patches.directory:
        here = place.at("patches", "directory")
        options.patches_directory = context.plain_in_kubeadm(here, config.patches.directory)
    if options.ByteSize():
        options.origin.CopyFrom(place.origin())
        spec.engine_options.kubeadm.CopyFrom(options)
    if config.timeouts is not None:
        _set_timeouts(context, place.at("timeouts"), config.timeouts, spec.kubernetes)


def _set_node(context: Context, place: Place, config: NodeRegistration, kubernetes: kubernetespb.Kubernetes) -> None:
    node = kubernetespb.NodeRegistration()
    if config.name:
        node.name.CopyFrom(context.machine_text(place.at("name"), config.name))
    if config.cri_socket:
        node.cri_socket = context.plain_in_kubeadm(place.at("criSocket"), config.cri_socket)
    if config.taints is not None:
        node.taints.SetInParent()
        for taint in config.taints:
            item = node.taints.items.add(key=taint.key, effect=_EFFECTS[taint.effect])
            if taint.value:
                item.value = taint.value
    node.kubelet_arguments.extend(arguments(context, place.at("kubeletExtraArgs"), config.kubelet_extra_args))
    if config.image_pull_policy:
        node.image_pull_policy = config.image_pull_policy
    if config.image_pull_serial is not None:
        node.image_pull_serial = config.image_pull_serial
    if node.ByteSize():
        node.origin.CopyFrom(place.origin())
        kubernetes.node.CopyFrom(node)


def _token(place: Place, token: BootstrapToken) -> kubernetespb.BootstrapToken:
    item = kubernetespb.BootstrapToken(usages=token.usages, groups=token.groups, origin=place.origin())
    item.token.value = token.token
    if token.description:
        item.description = token.description
    if token.ttl_seconds is not None:
        item.ttl.CopyFrom(duration_pb2.Duration(seconds=token.ttl_seconds))
    if token.expires is not None:
        item.expire_time.FromDatetime(datetime.fromisoformat(token.expires))
    return item


def _set_endpoint(context: Context, place: Place, endpoint: ApiEndpoint, kubernetes: kubernetespb.Kubernetes) -> None:
    if not endpoint.advertise_address and not endpoint.bind_port:
        return
    plane = kubernetes.control_plane
    if endpoint.advertise_address:
        text = context.machine_text(place.at("advertiseAddress"), endpoint.advertise_address)
        plane.advertise_address.CopyFrom(text)
    if endpoint.bind_port:
        plane.bind_port = endpoint.bind_port
    plane.origin.CopyFrom(place.origin())


def _set_discovery(
    context: Context, place: Place, config: JoinConfiguration, kubernetes: kubernetespb.Kubernetes
) -> None:
    discovery = kubernetespb.Discovery()
    given, here = config.discovery or Discovery(), place.at("discovery")
    if given.file is not None:
        path = context.plain_in_kubeadm(here.at("file", "kubeConfigPath"), given.file.kube_config_path)
        discovery.file.path = path
        if given.file.kube_config is not None:
            content = kubeconfig(context, here.at("file", "kubeConfig"), given.file.kube_config)
            discovery.file.kubeconfig.CopyFrom(content)
    elif given.bootstrap_token is not None:
        _set_token_discovery(context, here.at("bootstrapToken"), given.bootstrap_token, discovery.token)
    if given.tls_bootstrap_token:
        discovery.tls_bootstrap_token.value = given.tls_bootstrap_token
    if config.ca_cert_path:
        discovery.ca_path = context.plain_in_kubeadm(place.at("caCertPath"), config.ca_cert_path)
    if discovery.ByteSize():
        discovery.origin.CopyFrom(here.origin() if config.discovery is not None else place.at("caCertPath").origin())
        kubernetes.discovery.CopyFrom(discovery)


def _set_token_discovery(
    context: Context, place: Place, config: BootstrapTokenDiscovery, token: kubernetespb.TokenDiscovery
) -> None:
    if config.token:
        token.token.value = config.token
    if config.api_server_endpoint:
        token.endpoint = context.plain_in_kubeadm(place.at("apiServerEndpoint"), config.api_server_endpoint)
    token.ca_hashes.extend(config.ca_cert_hashes)
    if config.unsafe_skip_ca_verification is not None:
        token.unsafe_skip_ca_verification = config.unsafe_skip_ca_verification


def _set_timeouts(context: Context, place: Place, config: Timeouts, kubernetes: kubernetespb.Kubernetes) -> None:
    timeouts = kubernetespb.Timeouts()
    for name, field in _TIMEOUTS.items():
        seconds = getattr(config, field)
        if seconds == 0:
            key = Timeouts.model_fields[field].alias or field
            context.findings.refuse(place.at(key), _NO_TIME)
        if seconds is not None:
            getattr(timeouts, name).CopyFrom(duration_pb2.Duration(seconds=seconds))
    if timeouts.ByteSize():
        timeouts.origin.CopyFrom(place.origin())
        kubernetes.timeouts.CopyFrom(timeouts)
