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
from slipway.bootstrapper.importers.mapping.control_plane import arguments, known_text, plain_texts
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
    if config.local_api_endpoint is not None:
        _set_endpoint(context, place.at("localAPIEndpoint"), config.local_api_endpoint, spec.kubernetes)
    here = place.at("bootstrapTokens")
    tokens = [_token(context, here.at(index), token) for index, token in enumerate(config.bootstrap_tokens)]
    _set_shared(context, place, config, spec, specpb.KubeadmOptions(bootstrap_tokens=tokens))


def set_join(context: Context, place: Place, config: JoinConfiguration, spec: specpb.RoleOverrides) -> None:
    """Carry over joinConfiguration."""
    options = specpb.KubeadmOptions()
    if config.discovery is not None:
        _set_discovery(context, place.at("discovery"), config.discovery, spec.kubernetes, options)
        if config.discovery.tls_bootstrap_token:
            here = place.at("discovery", "tlsBootstrapToken")
            options.tls_bootstrap_token.value = context.plain_in_kubeadm(here, config.discovery.tls_bootstrap_token)
    if config.ca_cert_path:
        options.ca_path = context.plain_in_kubeadm(place.at("caCertPath"), config.ca_cert_path)
    if config.control_plane is not None and config.control_plane.local_api_endpoint is not None:
        here = place.at("controlPlane", "localAPIEndpoint")
        _set_endpoint(context, here, config.control_plane.local_api_endpoint, spec.kubernetes)
    _set_shared(context, place, config, spec, options)


def _set_shared(
    context: Context,
    place: Place,
    config: InitConfiguration | JoinConfiguration,
    spec: specpb.RoleOverrides,
    options: specpb.KubeadmOptions,
) -> None:
    options.skipped_phases.extend(plain_texts(context, place.at("skipPhases"), config.skip_phases))
    if config.node_registration is not None:
        here = place.at("nodeRegistration")
        _set_node(context, here, config.node_registration, spec.kubernetes, options)
        ignored = config.node_registration.ignore_preflight_errors
        options.ignored_preflight_errors.extend(plain_texts(context, here.at("ignorePreflightErrors"), ignored))
        if config.node_registration.image_pull_serial is not None:
            options.image_pull_serial = config.node_registration.image_pull_serial
    if config.patches is not None and config.patches.directory:
        here = place.at("patches", "directory")
        options.patches_directory = context.plain_in_kubeadm(here, config.patches.directory)
    if config.timeouts is not None:
        _set_timeouts(context, place.at("timeouts"), config.timeouts, spec.kubernetes, options)
    if options.ByteSize():
        options.origin.CopyFrom(place.origin())
        spec.engine_options.kubeadm.CopyFrom(options)


def _set_node(
    context: Context,
    place: Place,
    config: NodeRegistration,
    kubernetes: kubernetespb.Kubernetes,
    options: specpb.KubeadmOptions,
) -> None:
    node = kubernetespb.NodeRegistration()
    if config.name:
        node.name.CopyFrom(context.machine_text(place.at("name"), config.name))
        if node.name.value:
            # kubeadm does so before anybody reads the name. Source: GetHostname of its package util.
            node.name.value = node.name.value.strip().lower()
    if config.cri_socket:
        socket = known_text(context, place.at("criSocket"), config.cri_socket, "nodeRegistration.criSocket", options)
        if socket:
            node.cri_socket = socket
    if config.taints is not None:
        node.taints.SetInParent()
        for index, taint in enumerate(config.taints):
            here = place.at("taints", index)
            key = context.plain_in_kubeadm(here.at("key"), taint.key)
            item = node.taints.items.add(key=key, effect=_EFFECTS[taint.effect])
            field = f"nodeRegistration.taints[{index}].value"
            value = known_text(context, here.at("value"), taint.value, field, options)
            if value:
                item.value = value
    node.kubelet_arguments.extend(arguments(context, place.at("kubeletExtraArgs"), config.kubelet_extra_args))
    if config.image_pull_policy:
        node.image_pull_policy = config.image_pull_policy
    if node.ByteSize():
        node.origin.CopyFrom(place.origin())
        kubernetes.node.CopyFrom(node)


def _token(context: Context, place: Place, token: BootstrapToken) -> specpb.KubeadmBootstrapToken:
    item = specpb.KubeadmBootstrapToken(
        usages=plain_texts(context, place.at("usages"), token.usages),
        groups=plain_texts(context, place.at("groups"), token.groups),
        origin=place.origin(),
    )
    item.token.value = token.token
    if token.description:
        item.description = context.plain_in_kubeadm(place.at("description"), token.description)
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
    context: Context,
    place: Place,
    config: Discovery,
    kubernetes: kubernetespb.Kubernetes,
    options: specpb.KubeadmOptions,
) -> None:
    discovery = kubernetespb.Discovery()
    if config.file is not None:
        path = context.plain_in_kubeadm(place.at("file", "kubeConfigPath"), config.file.kube_config_path)
        discovery.file.path = path
        if config.file.kube_config is not None:
            content = kubeconfig(context, place.at("file", "kubeConfig"), config.file.kube_config)
            discovery.file.kubeconfig.CopyFrom(content)
    elif config.bootstrap_token is not None:
        _set_token_discovery(context, place.at("bootstrapToken"), config.bootstrap_token, discovery.token, options)
    if discovery.ByteSize():
        discovery.origin.CopyFrom(place.origin())
        kubernetes.discovery.CopyFrom(discovery)


def _set_token_discovery(
    context: Context,
    place: Place,
    config: BootstrapTokenDiscovery,
    token: kubernetespb.TokenDiscovery,
    options: specpb.KubeadmOptions,
) -> None:
    if config.token:
        token.token.value = context.plain_in_kubeadm(place.at("token"), config.token)
    if config.api_server_endpoint:
        here, field = place.at("apiServerEndpoint"), "discovery.bootstrapToken.apiServerEndpoint"
        endpoint = known_text(context, here, config.api_server_endpoint, field, options)
        if endpoint:
            token.endpoint = endpoint
    token.ca_hashes.extend(plain_texts(context, place.at("caCertHashes"), config.ca_cert_hashes))
    if config.unsafe_skip_ca_verification is not None:
        token.unsafe_skip_ca_verification = config.unsafe_skip_ca_verification


def _set_timeouts(
    context: Context,
    place: Place,
    config: Timeouts,
    kubernetes: kubernetespb.Kubernetes,
    options: specpb.KubeadmOptions,
) -> None:
    neutral, own = kubernetespb.Timeouts(), specpb.KubeadmTimeouts()
    timeouts: kubernetespb.Timeouts | specpb.KubeadmTimeouts
    for name, field in _TIMEOUTS.items():
        seconds = getattr(config, field)
        if seconds == 0:
            key = Timeouts.model_fields[field].alias or field
            context.findings.refuse(place.at(key), _NO_TIME)
        if seconds is not None:
            timeouts = neutral if name in neutral.DESCRIPTOR.fields_by_name else own
            getattr(timeouts, name).CopyFrom(duration_pb2.Duration(seconds=seconds))
    for timeouts in (neutral, own):
        if timeouts.ByteSize():
            timeouts.origin.CopyFrom(place.origin())
    if neutral.ByteSize():
        kubernetes.timeouts.CopyFrom(neutral)
    if own.ByteSize():
        options.timeouts.CopyFrom(own)
