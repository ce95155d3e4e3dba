"""Structs that both kubeadm APIs share, so that v1beta3 and v1beta4 only state where they differ."""

from typing import Annotated, Literal

from pydantic import Field

from slipway.bootstrapper.engines.documents.document import PRINTED, Document
from slipway.bootstrapper.engines.documents.spliced import Text
from slipway.bootstrapper.engines.durations import GoDuration


class Taint(Document):
    """A node taint (core/v1)."""

    key: str
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


Taints = Annotated[tuple[Taint, ...] | None, PRINTED]
"""None asks kubeadm for its default control-plane taint, an empty tuple for none; both are printed."""


class HostPathMount(Document):
    """A directory or file of the host that a control-plane component sees."""

    name: str
    host_path: str
    mount_path: str
    read_only: bool = False
    path_type: str = ""


class Patches(Document):
    """A directory with patches for the manifests that kubeadm writes."""

    directory: str = ""


class APIEndpoint(Document):
    """Where an API server listens."""

    advertise_address: Text = ""
    bind_port: int = 0


class Networking(Document):
    """The cluster's networks; several CIDRs are joined by commas."""

    service_subnet: str = ""
    pod_subnet: str = ""
    dns_domain: str = ""


class ImageMeta(Document):
    """Where an image comes from."""

    image_repository: str = ""
    image_tag: str = ""


class ExternalEtcd(Document):
    """An etcd that kubeadm does not run."""

    endpoints: tuple[str, ...]
    ca_file: str
    cert_file: str
    key_file: str


class BootstrapToken(Document):
    """A bootstrap token that `kubeadm init` shall create."""

    token: Text
    description: str = ""
    ttl: GoDuration | None = None
    usages: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


UnsafeSkipCAVerification = Annotated[bool, Field(serialization_alias="unsafeSkipCAVerification")]


class BootstrapTokenDiscovery(Document):
    """Discovery of the cluster by a bootstrap token."""

    token: Text
    api_server_endpoint: Text = ""
    ca_cert_hashes: tuple[Text, ...] = ()
    unsafe_skip_ca_verification: UnsafeSkipCAVerification = False


class FileDiscovery(Document):
    """Discovery of the cluster by a kubeconfig on the machine."""

    kube_config_path: str


class JoinControlPlane(Document):
    """What makes a joining machine a control-plane machine."""

    local_api_endpoint: Annotated[APIEndpoint, Field(serialization_alias="localAPIEndpoint")] = APIEndpoint()
