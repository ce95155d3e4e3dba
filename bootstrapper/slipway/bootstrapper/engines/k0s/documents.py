"""k0s.k0sproject.io/v1beta1, as far as this engine writes it: what is left out has k0s' default.

Source: pkg/apis/k0s/v1beta1 of k0s 1.27, which refuses unknown fields when it starts.
"""

from typing import Annotated, Literal

from pydantic import Field

from slipway.bootstrapper.engines.documents.document import PRINTED, Document
from slipway.bootstrapper.engines.documents.spliced import Text


class Metadata(Document):
    """Name of the configuration; k0s knows one."""

    name: str


class Component(Document):
    """A component that only takes arguments."""

    extra_args: dict[str, Text] = Field(default_factory=dict)


class Api(Document):
    """The API server."""

    address: Text = ""
    external_address: str = ""
    port: int
    sans: tuple[str, ...] = ()
    extra_args: dict[str, Text] = Field(default_factory=dict)


class ExternalCluster(Document):
    """An etcd that k0s does not run."""

    endpoints: tuple[str, ...]
    etcd_prefix: str
    ca_file: str
    client_cert_file: str
    client_key_file: str


class Etcd(Document):
    """A member of etcd, or servers elsewhere."""

    peer_address: Text = ""
    external_cluster: ExternalCluster | None = None
    extra_args: dict[str, Text] = Field(default_factory=dict)


class Kine(Document):
    """A database in place of etcd."""

    data_source: Text


class Storage(Document):
    """Where the cluster is stored."""

    type: Literal["etcd", "kine"]
    etcd: Etcd | None = None
    kine: Kine | None = None


class DualStack(Document):
    """Networks of IPv6 beside those of IPv4."""

    enabled: bool
    pods: Annotated[str, Field(serialization_alias="IPv6podCIDR")]
    services: Annotated[str, Field(serialization_alias="IPv6serviceCIDR")]


class KubeProxy(Document):
    """The kube-proxy add-on."""

    disabled: bool


class Network(Document):
    """The cluster's networks."""

    pods: Annotated[str, Field(serialization_alias="podCIDR")] = ""
    services: Annotated[str, Field(serialization_alias="serviceCIDR")] = ""
    cluster_domain: str = ""
    dual_stack: DualStack | None = None
    provider: str = ""
    kube_proxy: KubeProxy | None = None


class Images(Document):
    """Where images come from."""

    repository: str


class Telemetry(Document):
    """Reports to the makers of k0s."""

    enabled: Annotated[bool, PRINTED] = False


class ClusterSpec(Document):
    """What a control-plane machine is to run."""

    api: Api
    controller_manager: Component | None = None
    scheduler: Component | None = None
    storage: Storage
    network: Network | None = None
    images: Images | None = None
    telemetry: Telemetry = Telemetry()


class ClusterConfig(Document):
    """The configuration of a control-plane machine."""

    api_version: Literal["k0s.k0sproject.io/v1beta1"] = "k0s.k0sproject.io/v1beta1"
    kind: Literal["ClusterConfig"] = "ClusterConfig"
    metadata: Metadata = Metadata(name="k0s")
    spec: ClusterSpec
