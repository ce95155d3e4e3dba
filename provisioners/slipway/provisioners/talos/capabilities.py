"""What the formats of this provisioner take.

All versions take the same features; what differs is how they are written.
"""

from collections.abc import Iterator

from slipway.provisioners.talos.material import declarations
from slipway.provisioners.talos.naming import FACT_FEATURES
from slipway.provisioners.talos.versions import VERSIONS, TalosVersion
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

PATCH = "talos.slipway.dev/patch"
"""Id of the extension that holds a strategic merge patch."""

_COMPONENT = ("", ".arguments", ".volumes", ".environment")
_CONTROL_PLANE = (
    "",
    *(f".{name}{part}" for name in ("api_server", "controller_manager", "scheduler") for part in _COMPONENT),
    ".api_server_sans",
    ".bind_port",
    ".audit",
    ".audit.rotation",
    ".authentication_webhook",
    ".authentication_webhook.cache_ttl",
    ".authentication_webhook.version",
    ".files",
    *(
        f".{addon}{part}"
        for addon in ("dns", "kube_proxy")
        for part in ("", ".disabled", ".image_repository", ".image_tag")
    ),
)
_KUBERNETES = (
    "role",
    "role.init",
    "role.control_plane",
    "role.worker",
    "version",
    *(f"cluster{part}" for part in ("", ".name", ".endpoint", ".pod_cidrs", ".service_cidrs", ".service_domain")),
    "credentials",
    "node.name",
    "node.name.facts",
    *(f"node.name.facts.{fact}" for fact in FACT_FEATURES),
    "node.labels",
    "node.taints",
    "node.kubelet_arguments",
    "node.kubelet_configuration",
    "node.provider_id",
    "node.node_ip",
    *(f"control_plane{part}" for part in _CONTROL_PLANE),
    *(f"etcd{part}" for part in ("", ".local", ".local.image_repository", ".local.image_tag", ".local.arguments")),
    "images",
    "images.repository",
    "static_pods",
)
_SYSTEM = (
    "sysctls",
    "kernel.modules",
    "kernel.modules.parameters",
    "hostname",
    "hostname.facts",
    *(f"hostname.facts.{fact}" for fact in FACT_FEATURES),
    "ntp",
    "ntp.enabled",
    "ntp.servers",
    "proxy",
    "trusted_certificates",
    "containerd",
    *(
        f"containerd.registries{part}"
        for part in ("", ".ca", ".skip_verify", ".override_path", ".only_endpoints", ".credentials")
    ),
)
_SOCKETS = [
    f"{scheme}{folder}/containerd/containerd.sock" for scheme in ("unix://", "") for folder in ("/run", "/var/run")
]


def formats() -> list[provisionerpb.FormatInfo]:
    """Give the formats, the newest version first; it is the default."""
    return [_format(version) for version in VERSIONS]


def _format(version: TalosVersion) -> provisionerpb.FormatInfo:
    return provisionerpb.FormatInfo(
        format=version.format,
        media_type="application/yaml",
        file_extension="yaml",
        kubernetes_input=provisionerpb.KUBERNETES_INPUT_INTENT,
        features=sorted(_features(), key=lambda support: support.id),
        default_target=clusterpb.Target(
            os_family=clusterpb.OS_FAMILY_LINUX,
            distribution="talos",
            os_version=f"1.{version.minor}",
            architecture="amd64",
        ),
        os_families=[clusterpb.OS_FAMILY_LINUX],
        secrets=declarations(),
        emits_attachments=True,
        verbatim=True,
    )


def _features() -> Iterator[provisionerpb.FeatureSupport]:
    support = provisionerpb.FeatureSupport
    yield from (support(id=f"kubernetes.{name}") for name in _KUBERNETES)
    yield from (support(id=f"os.{name}") for name in _SYSTEM)
    yield support(id="os.files", path_prefixes=["/var/"])
    yield support(id="kubernetes.cluster.control_plane", allowed_values=["talos"])
    # What Talos does anyway may be asked for.
    yield support(id="kubernetes.node.cri_socket", allowed_values=_SOCKETS)
    yield support(id="kubernetes.node.image_pull_policy", allowed_values=["IfNotPresent"])
    yield support(id=f"ext.{PATCH}")
