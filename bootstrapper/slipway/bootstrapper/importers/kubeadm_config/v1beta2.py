"""KubeadmConfigSpec v1beta2: what Cluster API stores today, and the one form that the importer works on."""

# ruff: noqa: RUF012  # pydantic copies defaults

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from slipway.bootstrapper.importers.foreign import Foreign
from slipway.bootstrapper.importers.kubeadm_config.kubeadm_items import (
    ApiEndpoint,
    BootstrapTokenDiscovery,
    Dns,
    EncryptionAlgorithm,
    EnvVars,
    ExternalEtcd,
    FileDiscovery,
    JoinControlPlane,
    Name,
    Names,
    Patches,
    Phases,
    PullPolicy,
    Tag,
    Taint,
    Text,
    Texts,
    Volumes,
)
from slipway.bootstrapper.importers.kubeadm_config.kubeadm_items import BootstrapToken as SharedBootstrapToken
from slipway.bootstrapper.importers.kubeadm_config.os_items import OsItems

Seconds = Annotated[int, Field(ge=0, le=2**31 - 1)] | None


class Arg(Foreign):
    """An argument; its value may be empty but not absent."""

    name: Annotated[str, Field(min_length=1, max_length=256)]
    value: Annotated[str, Field(max_length=1024)]


def _no_map(given: Any) -> Any:
    if isinstance(given, dict):
        raise ValueError("is a map, the form of v1beta1; v1beta2 takes a list of entries with name and value")  # noqa: TRY004  # pydantic tells of no other
    return given


Args = Annotated[list[Arg], Field(max_length=100), BeforeValidator(_no_map)]


class BootstrapToken(SharedBootstrapToken):
    """A token that the first machine creates."""

    ttl_seconds: Seconds = None


class Component(Foreign):
    """A component of the control plane."""

    extra_args: Args = []
    extra_volumes: Volumes = []
    extra_envs: EnvVars | None = None


class ApiServer(Component):
    """The API server."""

    cert_sans: Annotated[Names, Field(alias="certSANs")] = []


class LocalEtcd(Foreign):
    """A member on each control-plane machine."""

    image_repository: Text = ""
    image_tag: Tag = ""
    data_dir: Text = ""
    extra_args: Args = []
    extra_envs: EnvVars | None = None
    server_cert_sans: Annotated[Names, Field(alias="serverCertSANs")] = []
    peer_cert_sans: Annotated[Names, Field(alias="peerCertSANs")] = []


class Etcd(Foreign):
    """The cluster's store."""

    local: LocalEtcd | None = None
    external: ExternalEtcd | None = None


class ClusterConfiguration(Foreign):
    """kubeadm's ClusterConfiguration."""

    etcd: Etcd | None = None
    control_plane_endpoint: Text = ""
    api_server: ApiServer | None = None
    controller_manager: Component | None = None
    scheduler: Component | None = None
    dns: Dns | None = None
    certificates_dir: Text = ""
    image_repository: Text = ""
    feature_gates: dict[str, bool] = {}
    certificate_validity_period_days: Annotated[int, Field(ge=1, le=1095)] | None = None
    ca_certificate_validity_period_days: Annotated[int, Field(ge=1, le=36500)] | None = None
    encryption_algorithm: EncryptionAlgorithm = ""


class NodeRegistration(Foreign):
    """How the node registers."""

    name: Name = ""
    cri_socket: Text = ""
    taints: Annotated[list[Taint], Field(max_length=100)] | None = None
    kubelet_extra_args: Args = []
    ignore_preflight_errors: Annotated[Texts, Field(max_length=50)] = []
    image_pull_policy: PullPolicy = ""
    image_pull_serial: bool | None = None


class Timeouts(Foreign):
    """How long kubeadm waits for what."""

    control_plane_component_health_check_seconds: Seconds = None
    kubelet_health_check_seconds: Seconds = None
    kubernetes_api_call_seconds: Annotated[Seconds, Field(alias="kubernetesAPICallSeconds")] = None
    etcd_api_call_seconds: Annotated[Seconds, Field(alias="etcdAPICallSeconds")] = None
    tls_bootstrap_seconds: Seconds = None
    discovery_seconds: Seconds = None


class Discovery(Foreign):
    """How a joining machine finds and trusts the cluster."""

    bootstrap_token: BootstrapTokenDiscovery | None = None
    file: FileDiscovery | None = None
    tls_bootstrap_token: Annotated[str, Field(max_length=512, repr=False)] = ""


class InitConfiguration(Foreign):
    """kubeadm's InitConfiguration."""

    bootstrap_tokens: Annotated[list[BootstrapToken], Field(max_length=100)] = []
    node_registration: NodeRegistration | None = None
    local_api_endpoint: Annotated[ApiEndpoint | None, Field(alias="localAPIEndpoint")] = None
    skip_phases: Phases = []
    patches: Patches | None = None
    timeouts: Timeouts | None = None


class JoinConfiguration(Foreign):
    """kubeadm's JoinConfiguration."""

    node_registration: NodeRegistration | None = None
    ca_cert_path: Text = ""
    discovery: Discovery | None = None
    control_plane: JoinControlPlane | None = None
    skip_phases: Phases = []
    patches: Patches | None = None
    timeouts: Timeouts | None = None


class KubeadmConfigSpec(OsItems):
    """The spec of a KubeadmConfig."""

    cluster_configuration: ClusterConfiguration | None = None
    init_configuration: InitConfiguration | None = None
    join_configuration: JoinConfiguration | None = None
