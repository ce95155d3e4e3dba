"""A Cluster of Cluster API, as the controller reads it."""

from dataclasses import dataclass

from slipway.bootstrapper.importers.cluster_api.families import family_of_control_plane
from slipway.kubernetes_api.objects import ApiObject
from slipway.kubernetes_api.resources import Json

CLUSTER_LABEL = "cluster.x-k8s.io/cluster-name"


@dataclass(frozen=True, slots=True)
class ClusterObject(ApiObject):
    """A Cluster, in the fields of contract v1beta2, and of v1beta1 where they differ."""

    @property
    def paused(self) -> bool:
        """Whether everything of it is paused."""
        return bool(self.tree["spec"].get("paused"))

    @property
    def infrastructure_provisioned(self) -> bool:
        """Whether its infrastructure is there."""
        status = self.tree.get("status") or {}
        return bool((status.get("initialization") or {}).get("infrastructureProvisioned"))

    @property
    def control_plane_initialized(self) -> bool:
        """Whether machines can join its control plane."""
        status = self.tree.get("status") or {}
        if (status.get("initialization") or {}).get("controlPlaneInitialized"):
            return True
        return any(
            condition.get("type") == "ControlPlaneInitialized" and condition.get("status") == "True"
            for condition in status.get("conditions") or ()
        )

    @property
    def endpoint(self) -> tuple[str, int] | None:
        """Host and port of its API server, when both are valid."""
        endpoint = self.tree["spec"].get("controlPlaneEndpoint") or {}
        host, port = str(endpoint.get("host") or ""), int(endpoint.get("port") or 0)
        return (host, port) if host and 0 < port < 65536 else None  # noqa: PLR2004  # ports

    @property
    def control_plane_reference(self) -> Json | None:
        """The reference to its control plane, when another provider makes that."""
        return self.tree["spec"].get("controlPlaneRef") or None

    @property
    def control_plane_family(self) -> str:
        """What its control plane is bootstrapped by, "" when that is not known."""
        return family_of_control_plane(str((self.control_plane_reference or {}).get("kind") or ""))

    @property
    def topology_version(self) -> str:
        """Kubernetes version of a managed topology, or ""."""
        return str((self.tree["spec"].get("topology") or {}).get("version") or "")

    def ranges(self, what: str) -> list[str]:
        """Give the networks of "pods" or "services"."""
        network = self.tree["spec"].get("clusterNetwork") or {}
        return [str(block) for block in (network.get(what) or {}).get("cidrBlocks") or ()]

    @property
    def service_domain(self) -> str:
        """DNS domain of services, or ""."""
        return str((self.tree["spec"].get("clusterNetwork") or {}).get("serviceDomain") or "")

    def relevant(self) -> tuple[object, ...]:
        """Give what configs depend on: when it is the same before and after, nothing has to be looked at."""
        return (
            self.paused,
            self.infrastructure_provisioned,
            self.control_plane_initialized,
            self.endpoint,
            self.deleting,
        )
