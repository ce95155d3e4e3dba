"""The features that this engine takes, stated one by one.

The list is written out, not derived from the contract: a field that is added to the contract is refused until
the engine is taught what it means.
"""

from collections.abc import Mapping

from slipway.bootstrapper.engines.fact_features import with_facts
from slipway.bootstrapper.engines.kubeadm.request import OPTIONS

_CONTROL_PLANE = "kubernetes.control_plane"
_COMPONENTS = tuple(f"{_CONTROL_PLANE}.{name}" for name in ("api_server", "controller_manager", "scheduler"))

_EVERY_ROLE = (
    "kubernetes.role",
    "kubernetes.role.worker",
    "kubernetes.version",
    "kubernetes.engine",
    "kubernetes.cluster",
    "kubernetes.cluster.name",
    "kubernetes.cluster.endpoint",
    "kubernetes.cluster.pod_cidrs",
    "kubernetes.cluster.service_cidrs",
    "kubernetes.cluster.service_domain",
    "kubernetes.cluster.control_plane",
    "kubernetes.credentials",
    "kubernetes.node.labels",
    "kubernetes.node.taints",
    "kubernetes.node.kubelet_configuration",
    "kubernetes.node.cri_socket",
    "kubernetes.node.image_pull_policy",
    "kubernetes.discovery",
    "kubernetes.discovery.token",
    "kubernetes.discovery.token.endpoint",
    "kubernetes.discovery.token.unsafe_skip_ca_verification",
    "kubernetes.discovery.file",
    "kubernetes.images",
    "kubernetes.images.repository",
    "kubernetes.certificates",
    "kubernetes.certificates.ca_validity",
    "kubernetes.certificates.key_algorithm",
    "kubernetes.timeouts",
    "kubernetes.timeouts.control_plane_component",
    "kubernetes.timeouts.tls_bootstrap",
    _CONTROL_PLANE,
    *_COMPONENTS,
    *(f"{component}.volumes" for component in _COMPONENTS),
    *(f"{component}.environment" for component in _COMPONENTS),
    f"{_CONTROL_PLANE}.api_server_sans",
    f"{_CONTROL_PLANE}.bind_port",
    f"{_CONTROL_PLANE}.audit.log_path",
    f"{_CONTROL_PLANE}.audit.rotation",
    f"{_CONTROL_PLANE}.authentication_webhook.cache_ttl",
    f"{_CONTROL_PLANE}.authentication_webhook.version",
    f"{_CONTROL_PLANE}.dns",
    f"{_CONTROL_PLANE}.dns.disabled",
    f"{_CONTROL_PLANE}.dns.image_repository",
    f"{_CONTROL_PLANE}.dns.image_tag",
    f"{_CONTROL_PLANE}.kube_proxy",
    f"{_CONTROL_PLANE}.kube_proxy.disabled",
    "kubernetes.etcd",
    "kubernetes.etcd.local",
    "kubernetes.etcd.local.image_repository",
    "kubernetes.etcd.local.image_tag",
    "kubernetes.etcd.local.data_dir",
    "kubernetes.etcd.local.environment",
    "kubernetes.etcd.external",
    f"{OPTIONS}.version",
    f"{OPTIONS}.feature_gates",
    f"{OPTIONS}.bootstrap_tokens",
    f"{OPTIONS}.certificate_validity",
    f"{OPTIONS}.etcd_sans",
    f"{OPTIONS}.image_pull_serial",
    f"{OPTIONS}.timeouts",
    *(f"{OPTIONS}.timeouts.{name}" for name in ("kubelet", "kubernetes_api", "etcd_api", "discovery")),
)
_MAY_HOLD_FACTS = (
    "kubernetes.node.name",
    "kubernetes.node.kubelet_arguments",
    "kubernetes.node.provider_id",
    "kubernetes.node.node_ip",
    "kubernetes.static_pods",
    "kubernetes.discovery.file.kubeconfig",
    *(f"{component}.arguments" for component in _COMPONENTS),
    f"{_CONTROL_PLANE}.advertise_address",
    f"{_CONTROL_PLANE}.audit",
    f"{_CONTROL_PLANE}.encryption",
    f"{_CONTROL_PLANE}.authentication_webhook",
    f"{_CONTROL_PLANE}.files",
    "kubernetes.etcd.local.arguments",
    OPTIONS,
    f"{OPTIONS}.machine_values",
)
CONTROL_PLANE_ROLES = ("kubernetes.role.init", "kubernetes.role.control_plane")


FEATURES = frozenset(
    (*_EVERY_ROLE, *CONTROL_PLANE_ROLES, *(entry for feature in _MAY_HOLD_FACTS for entry in with_facts(feature)))
)
"""Ids of all features that the engine takes. On Windows it takes no control plane."""

REMEDIES: Mapping[str, str] = {
    f"{_CONTROL_PLANE}.kube_proxy.image_repository": (
        "leave out kubeProxy.imageRepository, and set kubernetes.images.repository, which holds for kube-proxy too"
    ),
    f"{_CONTROL_PLANE}.kube_proxy.image_tag": (
        "leave out kubeProxy.imageTag: the image follows the Kubernetes version"
    ),
}
"""What to do about features that kubeadm has no place for; each names its field: the reported path is the item's."""

UNUSED_BY_WORKERS = tuple(
    f"{OPTIONS}.{name}" for name in ("feature_gates", "bootstrap_tokens", "certificate_validity", "etcd_sans")
)
"""Options that a worker's spec may share with its control plane, without effect on the worker."""

V1BETA3_LACKS: Mapping[str, str] = {
    **dict.fromkeys((f"{component}.environment" for component in _COMPONENTS), "use a patch of kubeadm's"),
    "kubernetes.etcd.local.environment": "use a patch of kubeadm's",
    f"{OPTIONS}.certificate_validity": "leave it out: certificates are valid for a year",
    f"{_CONTROL_PLANE}.dns.disabled": "skip kubeadm's phase addon/coredns",
    f"{_CONTROL_PLANE}.kube_proxy.disabled": "skip kubeadm's phase addon/kube-proxy",
}
"""What a cluster that is created through v1beta3 cannot have, and what to do about it."""

V1BETA3_LACKS_ON_NODES: Mapping[str, str] = {
    f"{OPTIONS}.image_pull_serial": "leave it out: images are pulled one after another",
    f"{OPTIONS}.timeouts.kubelet": "leave it out: kubeadm's own limit holds",
    f"{OPTIONS}.timeouts.kubernetes_api": "leave it out: kubeadm's own limit holds",
    f"{OPTIONS}.timeouts.etcd_api": "leave it out: kubeadm's own limit holds",
    f"{OPTIONS}.timeouts.discovery": "leave it out: kubeadm's own limit holds",
}
"""What no machine can have through v1beta3, and what to do about it."""
