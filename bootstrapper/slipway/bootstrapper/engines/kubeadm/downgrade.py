"""Documents are built once, in the newer API; here they become those of the older one.

Only the shape changes. What the older API cannot hold has been said to the user before (see limits).
"""

from collections.abc import Sequence

from slipway.bootstrapper.engines.documents.spliced import Text
from slipway.bootstrapper.engines.kubeadm.documents import v1beta3, v1beta4
from slipway.bootstrapper.engines.kubeadm.documents.parts import ImageMeta


def cluster_to_v1beta3(
    cluster: v1beta4.ClusterConfiguration, timeouts: v1beta4.Timeouts | None
) -> v1beta3.ClusterConfiguration:
    """Give the older form; the control plane's timeout stands in it, not in the machine's document."""
    return v1beta3.ClusterConfiguration(
        etcd=_etcd(cluster.etcd),
        networking=cluster.networking,
        kubernetes_version=cluster.kubernetes_version,
        control_plane_endpoint=cluster.control_plane_endpoint,
        api_server=v1beta3.APIServer(
            extra_args=_by_name(cluster.api_server.extra_args),
            extra_volumes=cluster.api_server.extra_volumes,
            cert_sans=cluster.api_server.cert_sans,
            timeout_for_control_plane=timeouts.control_plane_component_health_check if timeouts else None,
        ),
        controller_manager=_component(cluster.controller_manager),
        scheduler=_component(cluster.scheduler),
        dns=ImageMeta(image_repository=cluster.dns.image_repository, image_tag=cluster.dns.image_tag),
        certificates_dir=cluster.certificates_dir,
        image_repository=cluster.image_repository,
        feature_gates=cluster.feature_gates,
        cluster_name=cluster.cluster_name,
    )


def init_to_v1beta3(init: v1beta4.InitConfiguration) -> v1beta3.InitConfiguration:
    """Give the older form."""
    return v1beta3.InitConfiguration(
        bootstrap_tokens=init.bootstrap_tokens,
        node_registration=_node_registration(init.node_registration),
        local_api_endpoint=init.local_api_endpoint,
        skip_phases=init.skip_phases,
        patches=init.patches,
    )


def join_to_v1beta3(join: v1beta4.JoinConfiguration) -> v1beta3.JoinConfiguration:
    """Give the older form; its one timeout is that of the TLS bootstrap, as with the kubeadm provider."""
    return v1beta3.JoinConfiguration(
        node_registration=_node_registration(join.node_registration),
        ca_cert_path=join.ca_cert_path,
        discovery=v1beta3.Discovery(
            bootstrap_token=join.discovery.bootstrap_token,
            file=join.discovery.file,
            tls_bootstrap_token=join.discovery.tls_bootstrap_token,
            timeout=join.timeouts.tls_bootstrap if join.timeouts else None,
        ),
        control_plane=join.control_plane,
        skip_phases=join.skip_phases,
        patches=join.patches,
    )


def _node_registration(node: v1beta4.NodeRegistrationOptions) -> v1beta3.NodeRegistrationOptions:
    return v1beta3.NodeRegistrationOptions(
        name=node.name,
        cri_socket=node.cri_socket,
        taints=node.taints,
        kubelet_extra_args=_by_name(node.kubelet_extra_args),
        ignore_preflight_errors=node.ignore_preflight_errors,
        image_pull_policy=node.image_pull_policy,
    )


def _component(component: v1beta4.ControlPlaneComponent) -> v1beta3.ControlPlaneComponent:
    return v1beta3.ControlPlaneComponent(
        extra_args=_by_name(component.extra_args), extra_volumes=component.extra_volumes
    )


def _etcd(etcd: v1beta4.Etcd) -> v1beta3.Etcd:
    if etcd.local is None:
        return v1beta3.Etcd(external=etcd.external)
    local = etcd.local
    return v1beta3.Etcd(
        local=v1beta3.LocalEtcd(
            image_repository=local.image_repository,
            image_tag=local.image_tag,
            data_dir=local.data_dir,
            extra_args=_by_name(local.extra_args),
            server_cert_sans=local.server_cert_sans,
            peer_cert_sans=local.peer_cert_sans,
        )
    )


def _by_name(arguments: Sequence[v1beta4.Arg]) -> dict[str, Text]:
    return {argument.name: argument.value for argument in arguments}
