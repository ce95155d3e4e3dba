"""Labels and annotations of an opted-in KubeadmConfig: who owns it, and whether it is paused.

A person opts in by the label MANAGED in a template. The webhook answers at creation by the label OWNER and the
annotation PAUSED: the kubeadm provider leaves alone what is paused, and Slipway renders only what has both. When the
machine's data is there the pause goes, the owner stays for ever.
"""

from slipway.kubernetes_api.resources import GROUP, Json

MANAGED = f"{GROUP}/managed"
"""Label of who opts in; its value is "true"."""

OWNER = f"{GROUP}/owner"
"""Label that the webhook sets at creation. It cannot be added later, nor removed."""

SLIPWAY = "slipway"
"""Value of OWNER, and of PAUSED."""

PAUSED = "cluster.x-k8s.io/paused"
"""Annotation of Cluster API: every provider leaves the object alone."""

OWN_PAUSED = f"{GROUP}/paused"
"""Annotation by which a person has Slipway alone leave an object alone."""

RELEASED = f"{GROUP}/released"
"""Annotation of an object that was handed back to the kubeadm provider."""

PROVISIONER = f"{GROUP}/provisioner"
FORMAT = f"{GROUP}/format"
KUBEADM_VERSION = f"{GROUP}/kubeadm-version"
REPORTING = f"{GROUP}/reporting"
COMPLIANCE = f"{GROUP}/compliance"
"""Annotations that say for a KubeadmConfig what a SlipwayConfig says in its spec."""


def annotation(item: Json, name: str) -> str:
    """Give the value of an annotation, "" if it is not set."""
    return str((item["metadata"].get("annotations") or {}).get(name) or "")


def owned(item: Json) -> bool:
    """Whether Slipway was made the owner when the object was created, and has not handed it back."""
    labels = item["metadata"].get("labels") or {}
    return labels.get(OWNER) == SLIPWAY and not released(item)


def released(item: Json) -> bool:
    """Whether the object was handed back."""
    return RELEASED in (item["metadata"].get("annotations") or {})


def held(item: Json) -> bool:
    """Whether Slipway still keeps the kubeadm provider from an object of its own."""
    return owned(item) and annotation(item, PAUSED) == SLIPWAY
