"""kubeadm.k8s.io/v1beta3, read by kubeadm 1.22 to 1.30.

Arguments are maps, extra environment has no place.
"""

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

ApiVersion = Literal["kubeadm.k8s.io/v1beta3"]
API_VERSION: ApiVersion = "kubeadm.k8s.io/v1beta3"

LocalAPIEndpoint = Annotated[APIEndpoint, Field(serialization_alias="localAPIEndpoint")]


class NodeRegistrationOptions(Document):
    """How the node registers itself."""

    name: Text = ""
    cri_socket: str = ""
    taints: Taints = None
    kubelet_extra_args: dict[str, Text] = Field(default_factory=dict)
    ignore_preflight_errors: tuple[str, ...] = ()
    image_pull_policy: str = ""


class ControlPlaneComponent(Document):
    """What is set on controller manager and scheduler."""

    extra_args: dict[str, Text] = Field(default_factory=dict)
    extra_volumes: tuple[HostPathMount, ...] = ()


class APIServer(ControlPlaneComponent):
    """What is set on the API server."""

    cert_sans: Annotated[tuple[Text, ...], Field(serialization_alias="certSANs")] = ()
    timeout_for_control_plane: GoDuration | None = None


class LocalEtcd(ImageMeta):
    """An etcd that kubeadm runs as a static pod."""

    data_dir: Annotated[str, PRINTED] = ""
    extra_args: dict[str, Text] = Field(default_factory=dict)
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
    timeout: GoDuration | None = None


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
    dns: ImageMeta = ImageMeta()
    certificates_dir: str = ""
    image_repository: str = ""
    feature_gates: dict[str, bool] = Field(default_factory=dict)
    cluster_name: str = ""


class InitConfiguration(Document):
    """What `kubeadm init` does on the first control-plane machine."""

    api_version: ApiVersion = API_VERSION
    kind: Literal["InitConfiguration"] = "InitConfiguration"
    bootstrap_tokens: tuple[BootstrapToken, ...] = ()
    node_registration: NodeRegistrationOptions = NodeRegistrationOptions()
    local_api_endpoint: LocalAPIEndpoint = APIEndpoint()
    skip_phases: tuple[str, ...] = ()
    patches: Patches | None = None


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
