"""What a KubeadmConfigSpec says to kubeadm, in the v1beta2 form, as far as both API versions agree on it."""

# ruff: noqa: RUF012  # pydantic copies defaults

import re
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from slipway.bootstrapper.importers.foreign import Foreign

_TOKEN = re.compile(r"[a-z0-9]{6}\.[a-z0-9]{16}")

Text = Annotated[str, Field(max_length=512)]
Name = Annotated[str, Field(max_length=253)]
Texts = Annotated[list[Annotated[str, Field(min_length=1, max_length=512)]], Field(max_length=100)]
Names = Annotated[list[Annotated[str, Field(min_length=1, max_length=253)]], Field(max_length=100)]
Phases = Annotated[list[Annotated[str, Field(min_length=1, max_length=256)]], Field(max_length=50)]
Required = Annotated[str, Field(min_length=1, max_length=512)]
Tag = Annotated[str, Field(max_length=256)]


class ApiEndpoint(Foreign):
    """Where this machine's API server listens."""

    advertise_address: str = ""
    bind_port: Annotated[int, Field(ge=0, le=65535)] = 0


class Taint(Foreign):
    """A taint of core/v1."""

    key: Annotated[str, Field(min_length=1)]
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
    time_added: Any = None


class HostPathMount(Foreign):
    """A path of the host for a component."""

    name: Required
    host_path: Required
    mount_path: Required
    read_only: bool | None = None
    path_type: str = ""


class EnvVar(Foreign):
    """An environment variable of core/v1."""

    name: Annotated[str, Field(min_length=1)]
    value: Annotated[str, Field(repr=False)] = ""
    value_from: dict[str, Any] | None = None


EnvVars = Annotated[list[EnvVar], Field(max_length=100)]
Volumes = Annotated[list[HostPathMount], Field(max_length=100)]


class BootstrapToken(Foreign):
    """A token that the first machine creates."""

    token: Annotated[str, Field(repr=False)]
    description: Text = ""
    expires: str | None = None
    usages: Annotated[list[Annotated[str, Field(min_length=1, max_length=256)]], Field(max_length=100)] = []
    groups: Annotated[list[Annotated[str, Field(min_length=1, max_length=256)]], Field(max_length=100)] = []

    @field_validator("token")
    @classmethod
    def _form(cls, value: str) -> str:
        if not _TOKEN.fullmatch(value):
            raise ValueError("not a bootstrap token: six and sixteen of a-z and 0-9, with a dot between")
        return value

    @field_validator("expires")
    @classmethod
    def _time(cls, value: str) -> str:
        try:
            zoned = datetime.fromisoformat(value).tzinfo is not None
        except ValueError:
            zoned = False
        if not zoned:
            raise ValueError("not a time: write it like 2030-01-31T12:00:00Z")
        return value


class ExternalEtcd(Foreign):
    """An etcd that runs elsewhere."""

    endpoints: Annotated[list[Required], Field(max_length=50)]
    ca_file: Required
    cert_file: Required
    key_file: Required


class Dns(Foreign):
    """Cluster DNS."""

    image_repository: Text = ""
    image_tag: Tag = ""


class Patches(Foreign):
    """Patches for the manifests that kubeadm writes."""

    directory: Text = ""


class JoinControlPlane(Foreign):
    """A further control-plane machine."""

    local_api_endpoint: Annotated[ApiEndpoint | None, Field(alias="localAPIEndpoint")] = None


class BootstrapTokenDiscovery(Foreign):
    """Discovery by token."""

    token: Annotated[str, Field(max_length=512, repr=False)] = ""
    api_server_endpoint: Text = ""
    ca_cert_hashes: Texts = []
    unsafe_skip_ca_verification: Annotated[bool | None, Field(alias="unsafeSkipCAVerification")] = None


class KubeConfigCluster(Foreign):
    """The cluster of a generated kubeconfig."""

    server: Text = ""
    tls_server_name: Text = ""
    insecure_skip_tls_verify: Annotated[bool | None, Field(alias="insecureSkipTLSVerify")] = None
    certificate_authority_data: Annotated[str, Field(max_length=70000)] = ""
    proxy_url: Annotated[str, Field(alias="proxyURL", max_length=512)] = ""


class KubeConfigAuthProvider(Foreign):
    """An authentication plug-in."""

    name: Annotated[str, Field(min_length=1, max_length=256)]
    config: Annotated[dict[str, str], Field(repr=False)] = {}


class KubeConfigAuthExecEnv(Foreign):
    """An environment variable of an authentication program."""

    name: Required
    value: Annotated[str, Field(max_length=512, repr=False)]


class KubeConfigAuthExec(Foreign):
    """An authentication program."""

    command: Annotated[str, Field(min_length=1, max_length=1024)]
    args: Texts = []
    env: Annotated[list[KubeConfigAuthExecEnv], Field(max_length=100)] = []
    api_version: Text = ""
    provide_cluster_info: bool | None = None


class KubeConfigUser(Foreign):
    """The user of a generated kubeconfig."""

    auth_provider: KubeConfigAuthProvider | None = None
    exec_: Annotated[KubeConfigAuthExec | None, Field(alias="exec")] = None


class FileDiscoveryKubeConfig(Foreign):
    """A kubeconfig that is generated for the machine."""

    cluster: KubeConfigCluster | None = None
    user: KubeConfigUser


class FileDiscovery(Foreign):
    """Discovery by a kubeconfig file."""

    kube_config_path: Required
    kube_config: FileDiscoveryKubeConfig | None = None


EncryptionAlgorithm = Literal["", "ECDSA-P256", "ECDSA-P384", "RSA-2048", "RSA-3072", "RSA-4096"]
PullPolicy = Literal["", "Always", "IfNotPresent", "Never"]
