"""clusterConfiguration: the control plane's components, etcd, images, certificates and feature gates."""

from google.protobuf import duration_pb2

from slipway.bootstrapper.importers.kubeadm_config.kubeadm_items import EnvVar, HostPathMount
from slipway.bootstrapper.importers.kubeadm_config.v1beta2 import Arg, ClusterConfiguration, Component, Etcd
from slipway.bootstrapper.importers.mapping.context import Context
from slipway.bootstrapper.importers.mapping.files import normal_path
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import spec_pb2 as specpb

_ALGORITHMS = {
    "RSA-2048": kubernetespb.KEY_ALGORITHM_RSA_2048,
    "RSA-3072": kubernetespb.KEY_ALGORITHM_RSA_3072,
    "RSA-4096": kubernetespb.KEY_ALGORITHM_RSA_4096,
    "ECDSA-P256": kubernetespb.KEY_ALGORITHM_ECDSA_P256,
    "ECDSA-P384": kubernetespb.KEY_ALGORITHM_ECDSA_P384,
}


def set_cluster_configuration(
    context: Context, place: Place, config: ClusterConfiguration, spec: specpb.MachineBootstrapSpec
) -> None:
    """Carry over clusterConfiguration, but for the endpoint, which is the cluster's."""
    kubernetes = spec.kubernetes
    plane, options = kubernetespb.ControlPlane(), specpb.KubeadmOptions()
    if config.api_server is not None:
        here = place.at("apiServer")
        _set_component(plane.api_server, _component(context, here, config.api_server))
        names = config.api_server.cert_sans
        plane.api_server_sans.extend(known_texts(context, here.at("certSANs"), names, "apiServer.certSANs", options))
    if config.controller_manager is not None:
        item = _component(context, place.at("controllerManager"), config.controller_manager)
        _set_component(plane.controller_manager, item)
    if config.scheduler is not None:
        _set_component(plane.scheduler, _component(context, place.at("scheduler"), config.scheduler))
    if config.dns is not None:
        texts = {"image_repository": config.dns.image_repository, "image_tag": config.dns.image_tag}
        _set_texts(context, place.at("dns"), plane.dns, texts)
    if plane.ByteSize():
        plane.origin.CopyFrom(place.origin())
        kubernetes.control_plane.CopyFrom(plane)
    if config.etcd is not None:
        _set_etcd(context, place.at("etcd"), config.etcd, kubernetes)
    if config.image_repository:
        kubernetes.images.repository = context.plain_in_kubeadm(place.at("imageRepository"), config.image_repository)
    _set_certificates(place, config, kubernetes)
    _set_options(context, place, config, options)
    if options.ByteSize():
        options.origin.CopyFrom(place.origin())
        spec.engine_options.kubeadm.CopyFrom(options)


def _set_options(context: Context, place: Place, config: ClusterConfiguration, options: specpb.KubeadmOptions) -> None:
    for name, enabled in config.feature_gates.items():
        gate = context.plain_in_kubeadm(place.at("featureGates", name), name)
        options.feature_gates.add(name=gate, enabled=enabled)
    if config.certificates_dir:
        options.certificates_directory = context.plain_in_kubeadm(place.at("certificatesDir"), config.certificates_dir)
    if config.certificate_validity_period_days is not None:
        options.certificate_validity.CopyFrom(_days(config.certificate_validity_period_days))
    local = config.etcd.local if config.etcd is not None and config.etcd.external is None else None
    if local is not None:
        for key, names, known in (
            ("serverCertSANs", local.server_cert_sans, options.etcd_server_sans),
            ("peerCertSANs", local.peer_cert_sans, options.etcd_peer_sans),
        ):
            here = place.at("etcd", "local", key)
            known.extend(known_texts(context, here, names, f"etcd.local.{key}", options))


def _component(context: Context, place: Place, config: Component) -> kubernetespb.Component:
    return kubernetespb.Component(
        arguments=arguments(context, place.at("extraArgs"), config.extra_args),
        volumes=[
            _volume(context, place.at("extraVolumes", index), volume)
            for index, volume in enumerate(config.extra_volumes)
        ],
        environment=_environment(context, place.at("extraEnvs"), config.extra_envs or []),
    )


def _set_component(component: kubernetespb.Component, item: kubernetespb.Component) -> None:
    """Set a component, unless nothing is said of it: an empty one would count as a wish."""
    if item.ByteSize():
        component.CopyFrom(item)


def arguments(context: Context, place: Place, args: list[Arg]) -> list[kubernetespb.Argument]:
    """Carry over a list of arguments."""
    return [context.argument(place.at(index), arg.name, arg.value) for index, arg in enumerate(args)]


def _volume(context: Context, place: Place, volume: HostPathMount) -> kubernetespb.HostPathVolume:
    item = kubernetespb.HostPathVolume(
        name=context.plain_in_kubeadm(place.at("name"), volume.name),
        host_path=context.plain_in_kubeadm(place.at("hostPath"), _volume_path(volume.host_path)),
        mount_path=context.plain_in_kubeadm(place.at("mountPath"), _volume_path(volume.mount_path)),
    )
    if volume.read_only is not None:
        item.read_only = volume.read_only
    if volume.path_type:
        item.path_type = context.plain_in_kubeadm(place.at("pathType"), volume.path_type)
    return item


def _environment(context: Context, place: Place, variables: list[EnvVar]) -> list[kubernetespb.EnvironmentVariable]:
    result = []
    for index, variable in enumerate(variables):
        here = place.at(index)
        if variable.value_from is not None:
            context.findings.refuse(here.at("valueFrom"), "only a value in place can be carried over")
        name = context.plain_in_kubeadm(here.at("name"), variable.name)
        value = context.plain_in_kubeadm(here.at("value"), variable.value)
        result.append(kubernetespb.EnvironmentVariable(name=name, value=value))
    return result


def _set_etcd(context: Context, place: Place, etcd: Etcd, kubernetes: kubernetespb.Kubernetes) -> None:
    if etcd.external is not None:
        external = kubernetes.etcd.external
        here = place.at("external")
        external.endpoints.extend(plain_texts(context, here.at("endpoints"), etcd.external.endpoints))
        files = {
            "ca_file": etcd.external.ca_file,
            "cert_file": etcd.external.cert_file,
            "key_file": etcd.external.key_file,
        }
        _set_texts(context, here, external, files)
    elif etcd.local is not None:
        config, here = etcd.local, place.at("local")
        local = kubernetespb.LocalEtcd()
        texts = {
            "image_repository": config.image_repository,
            "image_tag": config.image_tag,
            "data_dir": config.data_dir,
        }
        _set_texts(context, here, local, texts)
        local.arguments.extend(arguments(context, here.at("extraArgs"), config.extra_args))
        local.environment.extend(_environment(context, here.at("extraEnvs"), config.extra_envs or []))
        if not local.ByteSize():
            return
        kubernetes.etcd.local.CopyFrom(local)
    else:
        return
    kubernetes.etcd.origin.CopyFrom(place.origin())


def _set_certificates(place: Place, config: ClusterConfiguration, kubernetes: kubernetespb.Kubernetes) -> None:
    certificates = kubernetespb.Certificates()
    if config.ca_certificate_validity_period_days is not None:
        certificates.ca_validity.CopyFrom(_days(config.ca_certificate_validity_period_days))
    if config.encryption_algorithm:
        certificates.key_algorithm = _ALGORITHMS[config.encryption_algorithm]
    if certificates.ByteSize():
        certificates.origin.CopyFrom(place.origin())
        kubernetes.certificates.CopyFrom(certificates)


def _days(days: int) -> duration_pb2.Duration:
    return duration_pb2.Duration(seconds=days * 24 * 60 * 60)


def plain_texts(context: Context, place: Place, texts: list[str]) -> list[str]:
    """Read a list of texts of kubeadm's file that have to be known now."""
    return [context.plain_in_kubeadm(place.at(index), text) for index, text in enumerate(texts)]


def known_texts(
    context: Context, place: Place, texts: list[str], field: str, options: specpb.KubeadmOptions
) -> list[str]:
    """Read a list of texts; those that only the machine knows become values of kubeadm's at their places."""
    return [
        known
        for index, text in enumerate(texts)
        if (known := known_text(context, place.at(index), text, f"{field}[{index}]", options))
    ]


def known_text(context: Context, place: Place, text: str, field: str, options: specpb.KubeadmOptions) -> str:
    """Read a text of kubeadm's file; one that only the machine knows becomes a value of kubeadm's, and is "" here."""
    value = context.machine_text(place, text)
    if not value.segments:
        return value.value
    options.machine_values.add(field=field, value=value)
    return ""


def _set_texts(
    context: Context,
    place: Place,
    item: kubernetespb.Addon | kubernetespb.LocalEtcd | kubernetespb.ExternalEtcd,
    texts: dict[str, str],
) -> None:
    """Set the texts that are not empty."""
    for name, text in texts.items():
        if text:
            first, *others = name.split("_")
            key = first + "".join(map(str.title, others))
            setattr(item, name, context.plain_in_kubeadm(place.at(key), text))


def _volume_path(path: str) -> str:
    """Give a path of a volume in its shortest form; one with a part that is ".." stays: Kubernetes refuses it."""
    return path if ".." in path.split("/") else normal_path(path)
