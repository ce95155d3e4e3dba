"""kubeadm.k8s.io/v1beta4, read by kubeadm since 1.31: arguments are lists, timeouts have their own struct."""

from typing import Annotated, Literal

from pydantic import Field

from slipway.bootstrapper.engines.documents.document import PRINTED, Document
from slipway.bootstrapper.engines.documents.spliced import Text
from slipway.bootstrapper.engines.durations import GoDuration
from slipway.bootstrapper.engines.kubeadm.documents.parts import (
    APIEndpoint,
    BootstrapToken,
    BootstrapTokenDiscovery,
    ExternalEtcd,
    FileDiscovery,
    HostPathMount,
    ImageMeta,
    JoinControlPlane,
    Networking,
    Patches,
    Taints,
)

ApiVersion = Literal["kubeadm.k8s.io/v1beta4"]
API_VERSION: ApiVersion = "kubeadm.k8s.io/v1beta4"

LocalAPIEndpoint = Annotated[APIEndpoint, Field(serialization_alias="localAPIEndpoint")]
EncryptionAlgorithm = Literal["ECDSA-P256", "ECDSA-P384", "RSA-2048", "RSA-3072", "RSA-4096"]


class Arg(Document):
    """One command-line argument; the same name may come twice."""

    name: str
    value: Text


class EnvVar(Document):
    """One environment variable; `value_from` is passed through as written."""

    name: str
    value: str = ""
    value_from: dict[str, object] | None = None


class NodeRegistrationOptions(Document):
    """How the node registers itself."""

    name: Text = ""
    cri_socket: str = ""
    taints: Taints = None
    kubelet_extra_args: tuple[Arg, ...] = ()
    ignore_preflight_errors: tuple[str, ...] = ()
    image_pull_policy: str = ""
    image_pull_serial: bool | None = None


class ControlPlaneComponent(Document):
    """What is set on controller manager and scheduler."""

    extra_args: tuple[Arg, ...] = ()
    extra_volumes: tuple[HostPathMount, ...] = ()
    extra_envs: tuple[EnvVar, ...] = ()


class APIServer(ControlPlaneComponent):
    """What is set on the API server."""

    cert_sans: Annotated[tuple[Text, ...], Field(serialization_alias="certSANs")] = ()


class DNS(ImageMeta):
    """The DNS add-on."""

    disabled: bool = False


class Proxy(Document):
    """The kube-proxy add-on."""

    disabled: bool = False


class LocalEtcd(ImageMeta):
    """An etcd that kubeadm runs as a static pod."""

    data_dir: Annotated[str, PRINTED] = ""
    extra_args: tuple[Arg, ...] = ()
    extra_envs: tuple[EnvVar, ...] = ()
    server_cert_sans: Annotated[tuple[Text, ...], Field(serialization_alias="serverCertSANs")] = ()
    peer_cert_sans: Annotated[tuple[Text, ...], Field(serialization_alias="peerCertSANs")] = ()


class Etcd(Document):
    """Exactly one kind of etcd, or kubeadm's default."""

    local: LocalEtcd | None = None
    external: ExternalEtcd | None = None


class Discovery(Document):
    """How a joining machine finds and trusts the cluster."""

    bootstrap_token: BootstrapTokenDiscovery | None = None
    file: FileDiscovery | None = None
    tls_bootstrap_token: Text = ""


class Timeouts(Document):
    """How long kubeadm waits; a timeout that is not set has kubeadm's default."""

    control_plane_component_health_check: GoDuration | None = None
    kubelet_health_check: GoDuration | None = None
    kubernetes_api_call: Annotated[GoDuration | None, Field(serialization_alias="kubernetesAPICall")] = None
    etcd_api_call: Annotated[GoDuration | None, Field(serialization_alias="etcdAPICall")] = None
    tls_bootstrap: GoDuration | None = None
    discovery: GoDuration | None = None


class ClusterConfiguration(Document):
    """What is the same for the whole cluster."""

    api_version: ApiVersion = API_VERSION
    kind: Literal["ClusterConfiguration"] = "ClusterConfiguration"
    etcd: Etcd = Etcd()
    networking: Networking = Networking()
    kubernetes_version: str = ""
    control_plane_endpoint: str = ""
    api_server: APIServer = APIServer()
    controller_manager: ControlPlaneComponent = ControlPlaneComponent()
    scheduler: ControlPlaneComponent = ControlPlaneComponent()
    dns: DNS = DNS()
    proxy: Proxy = Proxy()
    certificates_dir: str = ""
    image_repository: str = ""
    feature_gates: dict[str, bool] = Field(default_factory=dict)
    cluster_name: str = ""
    encryption_algorithm: EncryptionAlgorithm | None = None
    certificate_validity_period: GoDuration | None = None
    ca_certificate_validity_period: GoDuration | None = None


class InitConfiguration(Document):
    """What `kubeadm init` does on the first control-plane machine."""

    api_version: ApiVersion = API_VERSION
    kind: Literal["InitConfiguration"] = "InitConfiguration"
    bootstrap_tokens: tuple[BootstrapToken, ...] = ()
    node_registration: NodeRegistrationOptions = NodeRegistrationOptions()
    local_api_endpoint: LocalAPIEndpoint = APIEndpoint()
    skip_phases: tuple[str, ...] = ()
    patches: Patches | None = None
    timeouts: Timeouts | None = None


class JoinConfiguration(Document):
    """What `kubeadm join` does on every other machine."""

    api_version: ApiVersion = API_VERSION
    kind: Literal["JoinConfiguration"] = "JoinConfiguration"
    node_registration: NodeRegistrationOptions = NodeRegistrationOptions()
    ca_cert_path: str = ""
    discovery: Discovery = Discovery()
    control_plane: JoinControlPlane | None = None
    skip_phases: tuple[str, ...] = ()
    patches: Patches | None = None
    timeouts: Timeouts | None = None
