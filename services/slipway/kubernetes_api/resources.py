"""The kinds of objects that the services read and write, and how their addresses are made."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from slipway.kubernetes_api.failures import Invalid

Json = dict[str, Any]
"""An object of the Kubernetes API as a plain tree."""

CLUSTER_API_GROUP = "cluster.x-k8s.io"
GROUP = "bootstrap.slipway.dev"
KUBEADM_GROUP = "bootstrap.cluster.x-k8s.io"


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind of objects. `namespaced` decides what their addresses look like."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """Group and version, as objects have it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Give the address of an object, or of the list without a name; all namespaces without a namespace.

        Raises:
            Invalid: a part is not valid: it would be the address of something else.
        """
        parts = ["/apis", self.group, self.version] if self.group else ["/api", self.version]
        if namespace and self.namespaced:
            parts += ["namespaces", namespace]
        parts += [part for part in (self.plural, name, subresource) if part]
        return "/".join([parts[0], *(self._part(part) for part in parts[1:])])

    def _part(self, text: str) -> str:
        if set(text) & set("/?#") or ".." in text or text == ".":
            raise Invalid("address", self.kind, "", "is not a valid namespace or name")
        return quote(text, safe=":")


SLIPWAY_CONFIGS = Resource(GROUP, "v1alpha1", "slipwayconfigs", "SlipwayConfig")
KUBEADM_CONFIGS = Resource(KUBEADM_GROUP, "v1beta2", "kubeadmconfigs", "KubeadmConfig")
CLUSTERS = Resource(CLUSTER_API_GROUP, "v1beta2", "clusters", "Cluster")
MACHINES = Resource(CLUSTER_API_GROUP, "v1beta2", "machines", "Machine")
MACHINE_POOLS = Resource(CLUSTER_API_GROUP, "v1beta2", "machinepools", "MachinePool")
SECRETS = Resource("", "v1", "secrets", "Secret")
CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
EVENTS = Resource("", "v1", "events", "Event")
CERTIFICATE_REQUESTS = Resource(
    "certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", namespaced=False
)
LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease")
TOKEN_REVIEWS = Resource("authentication.k8s.io", "v1", "tokenreviews", "TokenReview", namespaced=False)
ACCESS_REVIEWS = Resource("authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False)
WEBHOOKS = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    namespaced=False,
)
