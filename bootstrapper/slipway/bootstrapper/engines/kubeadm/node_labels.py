"""Which labels the kubelet does not start with.

Of the namespaces of Kubernetes it takes those alone that a node may set on itself: ValidateKubeletFlags in
cmd/kubelet/app/options of Kubernetes, IsKubeletLabel in k8s.io/kubelet/pkg/apis (the same list in 1.27 and 1.34).
"""

from collections.abc import Iterator

from slipway.bootstrapper.engines.kubeadm.documents.spliced import Text

_ALLOWED = frozenset(
    {
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "kubernetes.io/arch",
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    }
)
_RESERVED = ("kubernetes.io", "k8s.io")
_ALLOWED_NAMESPACES = ("kubelet.kubernetes.io", "node.kubernetes.io")
_UNKNOWN = "\x00"
"""Stands for what is known only on the machine; no label has it."""


def is_restricted(label: str) -> bool:
    """Report whether the kubelet refuses to start with a label of this name."""
    namespace, slash, _ = label.partition("/")
    if not slash or label in _ALLOWED or not _is_in(namespace, _RESERVED):
        return False
    return not _is_in(namespace, _ALLOWED_NAMESPACES)


def label_names(text: Text) -> Iterator[str]:
    """Give the names of labels in the value of `--node-labels`, without those that only the machine knows."""
    parts = [text] if isinstance(text, str) else text.parts
    whole = "".join(part if isinstance(part, str) else _UNKNOWN for part in parts)
    for pair in whole.split(","):
        name = pair.partition("=")[0].strip()
        if name and _UNKNOWN not in name:
            yield name


def _is_in(namespace: str, domains: tuple[str, ...]) -> bool:
    return any(namespace == domain or namespace.endswith(f".{domain}") for domain in domains)
