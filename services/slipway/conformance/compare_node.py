"""Compares an intent with what the user data says of the node, and of the control plane that it carries."""

from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any

import yaml

from slipway.conformance.compare_secrets import secrets_hold
from slipway.conformance.comparison import Comparer
from slipway.conformance.contents import literal_text
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb

_PORT = 6443
_SERVICES, _TENTH = "10.96.0.0/12", 10
_OF_CONTROL_PLANES = ("node-role.kubernetes.io/", "node.kubernetes.io/exclude-from-external-load-balancers")
_ROLES = {
    clusterpb.ROLE_WORKER: "kubernetes.role.worker",
    clusterpb.ROLE_CONTROL_PLANE: "kubernetes.role.control_plane",
    clusterpb.ROLE_INIT: "kubernetes.role.init",
}


def compare_node(comparer: Comparer, intent: planpb.Intent) -> None:
    """Compare all that an intent says."""
    _Node(comparer, intent).compare()


class _Node:
    def __init__(self, comparer: Comparer, intent: planpb.Intent) -> None:
        self._to = comparer
        self._intent = intent
        self._there = comparer.state.node

    def compare(self) -> None:
        intent, node = self._intent, self._there
        self._core()
        self._dns()
        self._registration()
        if "kubernetes.cluster.endpoint" in self._to.found.verified:
            self._to.found.verified.add("kubernetes.cluster")
        core = ("endpoint", "kubernetes_version", "namespace")
        self._to.message(intent.cluster, node.cluster, "intent.cluster", "kubernetes.cluster", apart_from=core)
        core = ("name", "labels", "taints")
        at = "intent.kubernetes.node"
        self._to.message(intent.kubernetes.node, node.registration, at, "kubernetes.node", apart_from=core)
        self._to.message(intent.kubernetes, node.kubernetes, "intent.kubernetes", "kubernetes", apart_from=("node",))

    def _core(self) -> None:
        intent, node = self._intent, self._there
        self._to.fact("kubernetes.role", "intent.role", intent.role == node.role)
        if self._to.sees("kubernetes.role") and intent.role == node.role:
            self._to.found.verified.add(_ROLES.get(intent.role, "kubernetes.role"))
        version = intent.kubernetes_version
        self._to.fact("kubernetes.version", "intent.kubernetes_version", version == node.kubernetes_version)
        expected = (intent.cluster.endpoint.host.lower(), intent.cluster.endpoint.port or _PORT)
        there = (node.endpoint.host.lower(), node.endpoint.port or _PORT)
        self._to.fact("kubernetes.cluster.endpoint", "intent.cluster.endpoint", expected == there)
        port = intent.kubernetes.control_plane.bind_port or _PORT
        if node.kubernetes.control_plane.bind_port not in (0, port):
            self._to.wrong("intent.kubernetes.control_plane.bind_port", "kubernetes.control_plane.bind_port")
        held = secrets_hold(intent.credentials, node.secrets, self._to.secrets)
        self._to.fact("kubernetes.credentials", "intent.credentials", self._trusts() and held)

    def _trusts(self) -> bool:
        """Whether it trusts the cluster's authority, and shows a token of the bundle."""
        kind = secretpb.SECRET_KIND_BOOTSTRAP_TOKEN
        tokens = [secret.value.decode() for secret in self._to.bundle.secrets.secrets if secret.kind == kind]
        certificate = self._intent.credentials.cluster_ca.certificate
        authority = self._to.secrets.get((certificate.name, certificate.key), b"")
        trusted = authority.strip() == self._there.cluster_ca.strip()
        return trusted and (not tokens or self._there.bootstrap_token in tokens)

    def _dns(self) -> None:
        """See that pods ask the address where clusters of kubeadm and Talos have their DNS: the tenth for services."""
        settings, there = (self._kubelet(node) for node in (self._intent.kubernetes.node, self._there.registration))
        if there.get("clusterDNS") and "clusterDNS" not in settings:
            network = ip_network(next(iter(self._intent.cluster.service_cidrs), _SERVICES), strict=False)
            if there["clusterDNS"] != [str(network.network_address + _TENTH)]:
                at = "intent.cluster.service_cidrs, of which the address of the cluster's DNS is the tenth,"
                self._to.wrong(at, "kubernetes.cluster.service_cidrs")

    def _kubelet(self, node: kubernetespb.NodeRegistration) -> Mapping[str, Any]:
        document = yaml.safe_load(node.kubelet_configuration.data or node.kubelet_configuration.text)
        return document if isinstance(document, dict) else {}

    def _registration(self) -> None:
        wanted, node = self._intent.kubernetes.node, self._there
        at = "intent.kubernetes.node"
        name = literal_text(wanted.name)
        if name is not None:
            self._to.fact("kubernetes.node.name", f"{at}.name", name == node.name)
        labels = {label.name: label.value for label in node.labels}
        named = {label.name: label.value for label in wanted.labels}
        further = {name for name in labels.keys() - named.keys() if not self._usual(name)}
        holds = all(labels.get(name) == value for name, value in named.items())
        self._to.fact("kubernetes.node.labels", f"{at}.labels", holds and not further)
        taints = {(taint.key, taint.value, taint.effect) for taint in node.taints}
        expected = {(taint.key, taint.value, taint.effect) for taint in wanted.taints.items}
        # Without a word on taints, a control plane has its usual one.
        further_taints = {one for one in taints - expected if wanted.HasField("taints") or not self._usual(one[0])}
        self._to.fact("kubernetes.node.taints", f"{at}.taints", expected <= taints and not further_taints)

    def _usual(self, name: str) -> bool:
        """Whether a label or taint is one that Kubernetes itself gives to control planes."""
        return self._intent.role != clusterpb.ROLE_WORKER and name.startswith(_OF_CONTROL_PLANES)
