"""The features that this engine takes, and what to do about those that it does not.

The list is written out, not derived from the contract: a field that is added to the contract is refused until the
engine has been taught what it means.
"""

from collections.abc import Mapping

from slipway.bootstrapper.engines.fact_features import with_facts

_CONTROL_PLANE = "kubernetes.control_plane"
_COMPONENTS = tuple(f"{_CONTROL_PLANE}.{name}" for name in ("api_server", "controller_manager", "scheduler"))

_PLAIN = (
    "kubernetes.role",
    "kubernetes.role.init",
    "kubernetes.role.control_plane",
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
    "kubernetes.node.cri_socket",
    "kubernetes.discovery",
    "kubernetes.discovery.token",
    "kubernetes.discovery.token.endpoint",
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
    f"{_CONTROL_PLANE}.api_server_sans",
    f"{_CONTROL_PLANE}.bind_port",
    f"{_CONTROL_PLANE}.audit.log_path",
    f"{_CONTROL_PLANE}.audit.rotation",
    f"{_CONTROL_PLANE}.authentication_webhook.cache_ttl",
    f"{_CONTROL_PLANE}.authentication_webhook.version",
    f"{_CONTROL_PLANE}.dns",
    f"{_CONTROL_PLANE}.dns.disabled",
    f"{_CONTROL_PLANE}.kube_proxy",
    f"{_CONTROL_PLANE}.kube_proxy.disabled",
    "kubernetes.etcd",
    "kubernetes.etcd.local",
    "kubernetes.etcd.external",
    "engine_options.k0s",
)
_MAY_HOLD_FACTS = (
    "kubernetes.node.name",
    "kubernetes.node.kubelet_arguments",
    "kubernetes.node.provider_id",
    "kubernetes.node.node_ip",
    *(f"{component}.arguments" for component in _COMPONENTS),
    f"{_CONTROL_PLANE}.advertise_address",
    f"{_CONTROL_PLANE}.audit",
    f"{_CONTROL_PLANE}.encryption",
    f"{_CONTROL_PLANE}.authentication_webhook",
    f"{_CONTROL_PLANE}.files",
    "kubernetes.etcd.local.arguments",
)

FEATURES = frozenset(
    (*_PLAIN, *(entry for feature in _MAY_HOLD_FACTS for entry in with_facts(feature, extensions=False)))
)
"""Ids of all features that the engine takes."""

_NO_PODS = "leave it out: k0s runs the components as processes of the machine, which see all of its files"

REMEDIES: Mapping[str, str] = {
    "kubernetes.node.kubelet_configuration": (
        "use kubelet arguments, or a worker profile of the cluster (engineOptions.k0s.workerProfile)"
    ),
    "kubernetes.static_pods": "leave it out, and put manifests below /var/lib/k0s/manifests with os.files",
    "kubernetes.discovery.file": "use discovery.token, or leave discovery out",
    **{f"{component}.volumes": _NO_PODS for component in _COMPONENTS},
    **{f"{component}.environment": "use arguments of the component" for component in _COMPONENTS},
}
"""What to do about features that k0s has no place for, where that is more than to leave them out."""
