"""Compares an intent with what the user data says of the node, and of the control plane that it carries."""

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from services.contract.walk import uses
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tools.conformance.comparison import Comparer
from tools.conformance.decoders.reading import Reading

_PORT = 6443
_OF_CONTROL_PLANES = ("node-role.kubernetes.io/", "node.kubernetes.io/exclude-from-external-load-balancers")
_ROLES = {
    clusterpb.ROLE_WORKER: "kubernetes.role.worker",
    clusterpb.ROLE_CONTROL_PLANE: "kubernetes.role.control_plane",
    clusterpb.ROLE_INIT: "kubernetes.role.init",
}


def compare_node(comparer: Comparer, intent: planpb.Intent, reading: Reading) -> None:
    """Compare all that an intent says."""
    _Node(comparer, intent, reading).compare()


class _Node:
    def __init__(self, comparer: Comparer, intent: planpb.Intent, reading: Reading) -> None:
        self._to = comparer
        self._intent = intent
        self._reading = reading

    def compare(self) -> None:
        intent, node = self._intent, self._reading.state.node
        self._core()
        self._registration()
        if "kubernetes.cluster.endpoint" in self._to.found.verified:
            self._to.found.verified.add("kubernetes.cluster")
        core = ("endpoint", "kubernetes_version", "namespace")
        self._to.message(intent.cluster, node.cluster, "intent.cluster", "kubernetes.cluster", apart_from=core)
        core = ("name", "labels", "taints")
        at = "intent.kubernetes.node"
        self._to.message(intent.kubernetes.node, node.registration, at, "kubernetes.node", apart_from=core)
        if self._reading.kubernetes is None:
            rest = kubernetespb.Kubernetes()
            rest.CopyFrom(intent.kubernetes)
            rest.ClearField("node")
            self._to.found.unverified |= {use.id for use in uses(rest)}
            return
        self._to.message(
            intent.kubernetes, self._reading.kubernetes, "intent.kubernetes", "kubernetes", apart_from=("node",)
        )

    def _core(self) -> None:
        intent, node = self._intent, self._reading.state.node
        self._to.fact("kubernetes.role", "intent.role", intent.role == node.role)
        if self._to.sees("kubernetes.role") and intent.role == node.role:
            self._to.found.verified.add(_ROLES.get(intent.role, "kubernetes.role"))
        version = intent.kubernetes_version
        self._to.fact("kubernetes.version", "intent.kubernetes_version", version == node.kubernetes_version)
        asked = (intent.cluster.endpoint.host, intent.cluster.endpoint.port or _PORT)
        there = (node.endpoint.host, node.endpoint.port or _PORT)
        self._to.fact("kubernetes.cluster.endpoint", "intent.cluster.endpoint", asked == there)
        self._to.fact("kubernetes.credentials", "intent.credentials", self._trusts() and self._keys())

    def _trusts(self) -> bool:
        """Whether it trusts the cluster's authority, and shows a token of the bundle."""
        node = self._reading.state.node
        kind = secretpb.SECRET_KIND_BOOTSTRAP_TOKEN
        tokens = [one.value.decode() for one in self._to.bundle.secrets.secrets if one.kind == kind]
        authority = self._value(self._intent.credentials.cluster_ca.certificate).strip() == node.cluster_ca.strip()
        return authority and (not tokens or node.bootstrap_token in tokens)

    def _keys(self) -> bool:
        """Whether the private keys are the bundle's: all of them, where the decoder can tell, and no other."""
        there = self._reading.private_keys
        credentials = self._intent.credentials
        wanted = {
            descriptor.name: self._value(pair.private_key)
            for descriptor, pair in credentials.ListFields()
            if isinstance(pair, planpb.KeyPairReference) and pair.HasField("private_key")
        }
        if self._reading.kubernetes is not None and not wanted.keys() <= there.keys():
            return False
        return all(wanted.get(name) and _public(wanted[name]) == _public(key) for name, key in there.items())

    def _registration(self) -> None:
        wanted, node = self._intent.kubernetes.node, self._reading.state.node
        at = "intent.kubernetes.node"
        if wanted.name.HasField("value"):
            self._to.fact("kubernetes.node.name", f"{at}.name", wanted.name.value == node.name)
        labels = {one.name: one.value for one in node.labels}
        named = {one.name: one.value for one in wanted.labels}
        further = {name for name in labels.keys() - named.keys() if not self._usual(name)}
        holds = all(labels.get(name) == value for name, value in named.items())
        self._to.fact("kubernetes.node.labels", f"{at}.labels", holds and not further)
        taints = {(one.key, one.value, one.effect) for one in node.taints}
        asked = {(one.key, one.value, one.effect) for one in wanted.taints.items}
        # Without a word on taints, a control plane has its usual one.
        unasked = {one for one in taints - asked if wanted.HasField("taints") or not self._usual(one[0])}
        self._to.fact("kubernetes.node.taints", f"{at}.taints", asked <= taints and not unasked)

    def _usual(self, name: str) -> bool:
        """Whether a label or taint is one that Kubernetes itself gives to control planes."""
        return self._intent.role != clusterpb.ROLE_WORKER and name.startswith(_OF_CONTROL_PLANES)

    def _value(self, reference: secretpb.SecretReference) -> bytes:
        return self._to.secrets.get((reference.name, reference.key), b"")


def _public(pem: bytes) -> bytes:
    """Give the public half of a key, however it is written; nothing when it can not be read."""
    try:
        key = load_pem_private_key(pem, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return b""
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
