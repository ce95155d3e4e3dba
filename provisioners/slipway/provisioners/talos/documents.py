"""Talos' own documents as typed trees, with only the fields that this provisioner sets.

Field names are Talos' own in snake case; absent fields are left out, so that Talos' defaults hold. Source:
pkg/machinery/config/types of siderolabs/talos.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

_ACRONYMS = {"api": "API", "ca": "CA", "dns": "DNS", "fqdn": "FQDN", "ip": "IP", "sans": "SANs"}


def _key(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(_ACRONYMS.get(word, word.capitalize()) for word in rest)


class Tree(BaseModel):
    """A mapping of a document."""

    model_config = ConfigDict(alias_generator=_key, populate_by_name=True, extra="forbid")

    def plain(self) -> dict[str, Any]:
        """Give the mapping with Talos' keys, absent fields left out."""
        return self.model_dump(by_alias=True, exclude_none=True)


class KeyPair(Tree):
    """A certificate and, where the machine may have it, its key; base64 of PEM."""

    crt: str | None = None
    key: str | None = None


class NodeIP(Tree):
    valid_subnets: list[str]


class Kubelet(Tree):
    image: str
    extra_args: dict[str, str] | None = None
    extra_config: dict[str, Any] | None = None
    register_with_fqdn: bool | None = None
    node_ip: NodeIP | None = None
    disable_manifests_directory: bool = True


class MachineFile(Tree):
    content: str
    permissions: int
    path: str
    op: str = "create"


class KernelModule(Tree):
    name: str
    parameters: list[str] | None = None


class Kernel(Tree):
    modules: list[KernelModule]


class MachineNetwork(Tree):
    """Up to Talos 1.11; afterwards HostnameConfig."""

    hostname: str | None = None


class Time(Tree):
    """Up to Talos 1.11; afterwards TimeSyncConfig."""

    disabled: bool | None = None
    servers: list[str] | None = None


class Auth(Tree):
    username: str
    password: str


class RegistryTLS(Tree):
    """`ca` is base64 of PEM up to Talos 1.11, PEM in RegistryTLSConfig."""

    ca: str | None = None
    insecure_skip_verify: bool | None = None


class Mirror(Tree):
    endpoints: list[str]
    override_path: bool | None = None
    skip_fallback: bool | None = None


class RegistryConfig(Tree):
    tls: RegistryTLS | None = None
    auth: Auth | None = None


class Registries(Tree):
    """Up to Talos 1.11; afterwards three kinds of documents."""

    mirrors: dict[str, Mirror] | None = None
    config: dict[str, RegistryConfig] | None = None


class KubePrism(Tree):
    enabled: bool = True
    port: int = 7445


class HostDNS(Tree):
    enabled: bool = True
    forward_kube_dns_to_host: bool = True


class Features(Tree):
    """What Talos' own generator turns on; the first three are hidden and always on from 1.12."""

    rbac: bool | None = None
    stable_hostname: bool | None = None
    apid_check_ext_key_usage: bool | None = None
    disk_quota_support: bool = True
    kube_prism: KubePrism = Field(default_factory=KubePrism)
    host_dns: HostDNS = Field(default_factory=HostDNS)


class Machine(Tree):
    type: str
    token: str
    ca: KeyPair
    cert_sans: list[str] = Field(default_factory=list)
    kubelet: Kubelet
    pods: list[dict[str, Any]] | None = None
    network: MachineNetwork | None = None
    files: list[MachineFile] | None = None
    env: dict[str, str] | None = None
    time: Time | None = None
    sysctls: dict[str, str] | None = None
    registries: Registries | None = None
    features: Features
    kernel: Kernel | None = None
    node_labels: dict[str, str] | None = None


class Volume(Tree):
    host_path: str
    mount_path: str
    readonly: bool | None = None


class Component(Tree):
    image: str
    extra_args: dict[str, str] | None = None
    extra_volumes: list[Volume] | None = None
    env: dict[str, str] | None = None


class APIServer(Component):
    cert_sans: list[str]
    audit_policy: dict[str, Any] | None = None


class Addon(Tree):
    disabled: bool | None = None
    image: str | None = None


class Etcd(Tree):
    image: str | None = None
    ca: KeyPair
    extra_args: dict[str, str] | None = None


class Endpoint(Tree):
    endpoint: str
    local_api_server_port: int | None = None


class CNI(Tree):
    name: str = "none"


class ClusterNetwork(Tree):
    cni: CNI = Field(default_factory=CNI)
    dns_domain: str
    pod_subnets: list[str] | None = None
    service_subnets: list[str] | None = None


class Cluster(Tree):
    id: str
    secret: str
    control_plane: Endpoint
    cluster_name: str
    network: ClusterNetwork
    token: str
    ca: KeyPair
    secretbox_encryption_secret: str | None = None
    aggregator_ca: KeyPair | None = None
    service_account: KeyPair | None = None
    api_server: APIServer | None = None
    controller_manager: Component | None = None
    proxy: Addon | None = None
    scheduler: Component | None = None
    etcd: Etcd | None = None
    core_dns: Addon | None = None
    allow_scheduling_on_control_planes: bool | None = None


class Config(Tree):
    """The main document; it has a version instead of a kind."""

    version: str = "v1alpha1"
    debug: bool = False
    persist: bool = True
    machine: Machine
    cluster: Cluster


class Named(Tree):
    """A document of its own kind."""

    api_version: str = "v1alpha1"
    kind: str


class HostnameConfig(Named):
    kind: str = "HostnameConfig"
    auto: str | None = None
    hostname: str | None = None


class NTP(Tree):
    servers: list[str]


class TimeSyncConfig(Named):
    kind: str = "TimeSyncConfig"
    enabled: bool | None = None
    ntp: NTP | None = None


class MirrorEndpoint(Tree):
    url: str
    override_path: bool | None = None


class RegistryMirrorConfig(Named):
    kind: str = "RegistryMirrorConfig"
    name: str
    endpoints: list[MirrorEndpoint]
    skip_fallback: bool | None = None


class RegistryAuthConfig(Auth, Named):
    kind: str = "RegistryAuthConfig"
    name: str


class RegistryTLSConfig(RegistryTLS, Named):
    kind: str = "RegistryTLSConfig"
    name: str


class EnvironmentConfig(Named):
    kind: str = "EnvironmentConfig"
    variables: dict[str, str]


class TrustedRootsConfig(Named):
    kind: str = "TrustedRootsConfig"
    name: str
    certificates: str
