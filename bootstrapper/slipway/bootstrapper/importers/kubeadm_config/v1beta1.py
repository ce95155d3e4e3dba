"""KubeadmConfigSpec v1beta1: arguments as maps, durations as text, kubeadm's own apiVersion and kind inside.

It is turned into v1beta2 as Cluster API's conversion does. What that conversion drops is named, and the
places of what it moves are kept, so that messages speak of the document as it was written.
"""

# ruff: noqa: RUF012  # pydantic copies defaults

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from slipway.bootstrapper.importers.foreign import Foreign, read
from slipway.bootstrapper.importers.kubeadm_config import v1beta2
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
from slipway.contract.go_duration import parse_duration
from slipway.contract.source_position import FieldPath
from slipway.contract.yaml_document import Source


def _whole_seconds(text: str) -> str:
    if parse_duration(text).seconds >= 2**31:
        raise ValueError("not a duration: write it like 30s, 5m or 1h30m")
    return text


Duration = Annotated[str, AfterValidator(_whole_seconds)] | None


def _no_list(given: Any) -> Any:
    if isinstance(given, list):
        raise ValueError("is a list, the form of v1beta2; v1beta1 takes a map of names to values")  # noqa: TRY004  # pydantic tells of no other
    return given


Args = Annotated[dict[str, str], BeforeValidator(_no_list)]


class KubeadmDocument(Foreign):
    """A part that kubeadm knows as a document of its own; its apiVersion and kind mean nothing here."""

    api_version: Text = ""
    kind: Text = ""


class BootstrapToken(SharedBootstrapToken):
    """A token that the first machine creates."""

    ttl: Duration = None


class Component(Foreign):
    """A component of the control plane."""

    extra_args: Args = {}
    extra_volumes: Volumes = []
    extra_envs: EnvVars | None = None


class ApiServer(Component):
    """The API server."""

    cert_sans: Annotated[Names, Field(alias="certSANs")] = []
    timeout_for_control_plane: Duration = None


class LocalEtcd(Foreign):
    """A member on each control-plane machine."""

    image_repository: Text = ""
    image_tag: Tag = ""
    data_dir: Text = ""
    extra_args: Args = {}
    extra_envs: EnvVars | None = None
    server_cert_sans: Annotated[Names, Field(alias="serverCertSANs")] = []
    peer_cert_sans: Annotated[Names, Field(alias="peerCertSANs")] = []


class Etcd(Foreign):
    """The cluster's store."""

    local: LocalEtcd | None = None
    external: ExternalEtcd | None = None


class Networking(Foreign):
    """Networks; today they come from the Cluster."""

    service_subnet: Annotated[str, Field(max_length=1024)] = ""
    pod_subnet: Annotated[str, Field(max_length=1024)] = ""
    dns_domain: Name = ""


class ClusterConfiguration(KubeadmDocument):
    """kubeadm's ClusterConfiguration."""

    etcd: Etcd | None = None
    networking: Networking | None = None
    kubernetes_version: Tag = ""
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
    cluster_name: Annotated[str, Field(max_length=63)] = ""


class NodeRegistration(Foreign):
    """How the node registers."""

    name: Name = ""
    cri_socket: Text = ""
    taints: Annotated[list[Taint], Field(max_length=100)] | None = None
    kubelet_extra_args: Args = {}
    ignore_preflight_errors: Annotated[Texts, Field(max_length=50)] = []
    image_pull_policy: PullPolicy = ""
    image_pull_serial: bool | None = None


class Discovery(Foreign):
    """How a joining machine finds and trusts the cluster."""

    bootstrap_token: BootstrapTokenDiscovery | None = None
    file: FileDiscovery | None = None
    tls_bootstrap_token: Annotated[str, Field(max_length=512, repr=False)] = ""
    timeout: Duration = None


class InitConfiguration(KubeadmDocument):
    """kubeadm's InitConfiguration."""

    bootstrap_tokens: Annotated[list[BootstrapToken], Field(max_length=100)] = []
    node_registration: NodeRegistration | None = None
    local_api_endpoint: Annotated[ApiEndpoint | None, Field(alias="localAPIEndpoint")] = None
    skip_phases: Phases = []
    patches: Patches | None = None


class JoinConfiguration(KubeadmDocument):
    """kubeadm's JoinConfiguration."""

    node_registration: NodeRegistration | None = None
    ca_cert_path: Text = ""
    discovery: Discovery | None = None
    control_plane: JoinControlPlane | None = None
    skip_phases: Phases = []
    patches: Patches | None = None


class KubeadmConfigSpec(OsItems):
    """The spec of a KubeadmConfig."""

    cluster_configuration: ClusterConfiguration | None = None
    init_configuration: InitConfiguration | None = None
    join_configuration: JoinConfiguration | None = None
    use_experimental_retry_join: bool = False


@dataclass(frozen=True)
class Converted:
    """A spec in the v1beta2 form.

    Attributes:
        spec: the spec.
        dropped: paths of fields that Cluster API's conversion drops, each with what happens instead.
        moved: for a path in the v1beta2 form, its path in the document.
    """

    spec: v1beta2.KubeadmConfigSpec
    dropped: tuple[tuple[FieldPath, str], ...] = ()
    moved: Mapping[FieldPath, FieldPath] = field(default_factory=dict)


def convert(spec: KubeadmConfigSpec, *, source: Source, path: FieldPath) -> Converted:
    """Turn a v1beta1 spec, which stands at a path of a document, into the v1beta2 form.

    Raises:
        SourceError: it has what v1beta2 has no place for, such as a value of more than 1,024 characters.
    """
    tree = spec.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)
    moved: dict[FieldPath, FieldPath] = {}
    dropped = _drop(tree)
    for name in ("clusterConfiguration", "initConfiguration", "joinConfiguration"):
        tree.get(name, {}).pop("apiVersion", None)
        tree.get(name, {}).pop("kind", None)
    _listed_arguments(tree, (), moved)
    _moved_timeouts(tree, moved)
    _token_lifetimes(tree, moved)
    for partition in tree.get("diskSetup", {}).get("partitions", []):
        # v1beta1 demands a layout beside a diskLayout, which wins.
        if partition.get("diskLayout"):
            partition.pop("layout", None)
    converted = read(v1beta2.KubeadmConfigSpec, tree, source=source, path=path, moved=moved)
    return Converted(converted, tuple(dropped), moved)


def _drop(tree: dict[str, Any]) -> list[tuple[FieldPath, str]]:
    dropped: list[tuple[FieldPath, str]] = []
    if tree.pop("useExperimentalRetryJoin", False):
        message = "has no effect since Cluster API v1.11: kubeadm's own retries are all there is"
        dropped.append((("useExperimentalRetryJoin",), message))
    cluster = tree.get("clusterConfiguration", {})
    for name in ("networking", "kubernetesVersion", "clusterName"):
        if cluster.pop(name, None):
            message = "has no effect since Cluster API v1.11: Cluster and Machine say it"
            dropped.append((("clusterConfiguration", name), message))
    return dropped


def _listed_arguments(tree: Any, path: FieldPath, moved: dict[FieldPath, FieldPath]) -> None:
    """Turn every map of arguments into a list sorted by name."""
    if isinstance(tree, list):
        for index, item in enumerate(tree):
            _listed_arguments(item, (*path, index), moved)
    elif isinstance(tree, dict):
        for key, value in tree.items():
            here = (*path, key)
            if key in {"extraArgs", "kubeletExtraArgs"} and isinstance(value, dict):
                tree[key] = [{"name": name, "value": value[name]} for name in sorted(value)]
                moved |= {(*here, index): (*here, name) for index, name in enumerate(sorted(value))}
            elif key not in {"config", "featureGates"}:
                _listed_arguments(value, here, moved)


def _moved_timeouts(tree: dict[str, Any], moved: dict[FieldPath, FieldPath]) -> None:
    server = tree.get("clusterConfiguration", {}).get("apiServer", {})
    healthy = server.pop("timeoutForControlPlane", None)
    discovery = tree.get("joinConfiguration", {}).get("discovery", {})
    bootstrapped = discovery.pop("timeout", None)
    health_check = "controlPlaneComponentHealthCheckSeconds"
    if healthy is not None:
        origin = ("clusterConfiguration", "apiServer", "timeoutForControlPlane")
        _timeout(tree, "initConfiguration", health_check, healthy)
        moved["initConfiguration", "timeouts", health_check] = origin
        _timeout(tree, "joinConfiguration", health_check, healthy)
        moved["joinConfiguration", "timeouts", health_check] = origin
    if bootstrapped is not None:
        _timeout(tree, "joinConfiguration", "tlsBootstrapSeconds", bootstrapped)
        moved["joinConfiguration", "timeouts", "tlsBootstrapSeconds"] = ("joinConfiguration", "discovery", "timeout")


def _timeout(tree: dict[str, Any], part: str, name: str, duration: str) -> None:
    timeouts = tree.setdefault(part, {}).setdefault("timeouts", {})
    timeouts[name] = parse_duration(duration).seconds


def _token_lifetimes(tree: dict[str, Any], moved: dict[FieldPath, FieldPath]) -> None:
    for index, token in enumerate(tree.get("initConfiguration", {}).get("bootstrapTokens", [])):
        lifetime = token.pop("ttl", None)
        if lifetime is not None:
            token["ttlSeconds"] = parse_duration(lifetime).seconds
            path = ("initConfiguration", "bootstrapTokens", index)
            moved[*path, "ttlSeconds"] = (*path, "ttl")
