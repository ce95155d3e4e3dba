"""What is the same for the whole cluster: kubeadm's ClusterConfiguration, written by the first machine."""

from collections.abc import Iterator, Sequence

from slipway.bootstrapper.engines.component_files import (
    API_SERVER,
    CONTROLLER_MANAGER,
    SCHEDULER,
    ComponentFiles,
)
from slipway.bootstrapper.engines.durations import go_duration
from slipway.bootstrapper.engines.endpoint import host_port
from slipway.bootstrapper.engines.kubeadm.arguments import refuse_doubled, user_arguments
from slipway.bootstrapper.engines.kubeadm.documents import v1beta4
from slipway.bootstrapper.engines.kubeadm.documents.parts import ExternalEtcd, HostPathMount, Networking
from slipway.bootstrapper.engines.kubeadm.documents.v1beta4 import Arg, EnvVar
from slipway.bootstrapper.engines.kubeadm.request import EngineRequest
from slipway.bootstrapper.engines.request import KUBERNETES
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb

_ALGORITHMS: dict[kubernetespb.KeyAlgorithm.ValueType, v1beta4.EncryptionAlgorithm] = {
    kubernetespb.KEY_ALGORITHM_RSA_2048: "RSA-2048",
    kubernetespb.KEY_ALGORITHM_RSA_3072: "RSA-3072",
    kubernetespb.KEY_ALGORITHM_RSA_4096: "RSA-4096",
    kubernetespb.KEY_ALGORITHM_ECDSA_P256: "ECDSA-P256",
    kubernetespb.KEY_ALGORITHM_ECDSA_P384: "ECDSA-P384",
}


def cluster_configuration(request: EngineRequest, files: ComponentFiles) -> v1beta4.ClusterConfiguration:
    """Give the configuration of the cluster; `files` are those of its components."""
    kubernetes, options = request.kubernetes, request.options
    control_plane, certificates = kubernetes.control_plane, kubernetes.certificates
    return v1beta4.ClusterConfiguration(
        kubernetes_version=str(request.version),
        cluster_name=request.intent.cluster.name,
        control_plane_endpoint=host_port(request.intent.cluster.endpoint),
        networking=_networking(request),
        etcd=_etcd(request),
        api_server=_api_server(request, files),
        controller_manager=_component(request, files, CONTROLLER_MANAGER, control_plane.controller_manager),
        scheduler=_component(request, files, SCHEDULER, control_plane.scheduler),
        dns=v1beta4.DNS(
            image_repository=control_plane.dns.image_repository,
            image_tag=control_plane.dns.image_tag,
            disabled=control_plane.dns.disabled,
        ),
        proxy=v1beta4.Proxy(disabled=control_plane.kube_proxy.disabled),
        certificates_dir=options.certificates_directory,
        image_repository=kubernetes.images.repository,
        feature_gates={gate.name: gate.enabled for gate in options.feature_gates},
        encryption_algorithm=_ALGORITHMS.get(certificates.key_algorithm),
        certificate_validity_period=(
            go_duration(options.certificate_validity) if options.HasField("certificate_validity") else None
        ),
        ca_certificate_validity_period=(
            go_duration(certificates.ca_validity) if certificates.HasField("ca_validity") else None
        ),
    )


def _networking(request: EngineRequest) -> Networking:
    cluster = request.intent.cluster
    return Networking(
        service_subnet=",".join(cluster.service_cidrs),
        pod_subnet=",".join(cluster.pod_cidrs),
        dns_domain=cluster.service_domain,
    )


def _component(
    request: EngineRequest, files: ComponentFiles, name: str, component: kubernetespb.Component
) -> v1beta4.ControlPlaneComponent:
    field = name.replace("-", "_")
    path = f"{KUBERNETES}.control_plane.{field}.arguments"
    feature = f"kubernetes.control_plane.{field}.arguments"
    own = files.arguments.get(name, {})
    arguments = user_arguments(request, component.arguments, feature=feature, path=path)
    refuse_doubled(request.remarks, arguments, own, feature=feature, path=path)
    return v1beta4.ControlPlaneComponent(
        extra_args=(*arguments, *(Arg(name=key, value=value) for key, value in own.items())),
        extra_volumes=(*map(_mount, component.volumes), *_mounts(files, name)),
        extra_envs=_environment(component.environment),
    )


def _api_server(request: EngineRequest, files: ComponentFiles) -> v1beta4.APIServer:
    control_plane = request.kubernetes.control_plane
    component = _component(request, files, API_SERVER, control_plane.api_server)
    return v1beta4.APIServer(
        extra_args=component.extra_args,
        extra_volumes=component.extra_volumes,
        extra_envs=component.extra_envs,
        cert_sans=tuple(control_plane.api_server_sans),
    )


def _mounts(files: ComponentFiles, component: str) -> Iterator[HostPathMount]:
    """Make paths visible in the static pod of a component: kubeadm runs the components in pods."""
    for path in files.paths:
        if path.component != component:
            continue
        yield HostPathMount(
            name=path.name,
            host_path=path.path,
            mount_path=path.path,
            read_only=not path.folder,
            path_type=path.type,
        )


def _mount(volume: kubernetespb.HostPathVolume) -> HostPathMount:
    return HostPathMount(
        name=volume.name,
        host_path=volume.host_path,
        mount_path=volume.mount_path,
        read_only=volume.read_only,
        path_type=volume.path_type,
    )


def _environment(variables: Sequence[kubernetespb.EnvironmentVariable]) -> tuple[EnvVar, ...]:
    return tuple(EnvVar(name=variable.name, value=variable.value) for variable in variables)


def _etcd(request: EngineRequest) -> v1beta4.Etcd:
    etcd, options = request.kubernetes.etcd, request.options
    if etcd.HasField("external"):
        external = etcd.external
        return v1beta4.Etcd(
            external=ExternalEtcd(
                endpoints=tuple(external.endpoints),
                ca_file=external.ca_file,
                cert_file=external.cert_file,
                key_file=external.key_file,
            )
        )
    if not (etcd.HasField("local") or options.etcd_server_sans or options.etcd_peer_sans):
        return v1beta4.Etcd()
    local = etcd.local
    arguments = user_arguments(
        request,
        local.arguments,
        feature="kubernetes.etcd.local.arguments",
        path=f"{KUBERNETES}.etcd.local.arguments",
    )
    return v1beta4.Etcd(
        local=v1beta4.LocalEtcd(
            image_repository=local.image_repository,
            image_tag=local.image_tag,
            data_dir=local.data_dir,
            extra_args=tuple(arguments),
            extra_envs=_environment(local.environment),
            server_cert_sans=tuple(options.etcd_server_sans),
            peer_cert_sans=tuple(options.etcd_peer_sans),
        )
    )
