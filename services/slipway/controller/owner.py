"""The Machine or MachinePool that a config belongs to, and how configs refer to it."""

from dataclasses import dataclass

from slipway.kubernetes_api.objects import ApiObject
from slipway.kubernetes_api.resources import CLUSTER_API_GROUP, GROUP, KUBEADM_GROUP, Json, Resource

CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane"
MACHINE = "Machine"
MACHINE_POOL = "MachinePool"


@dataclass(frozen=True, slots=True)
class Owner(ApiObject):
    """The Machine or MachinePool that owns a config."""

    @property
    def kind(self) -> str:
        """Machine or MachinePool."""
        return str(self.tree["kind"])

    @property
    def is_pool(self) -> bool:
        """Whether it stands for many machines."""
        return self.kind == MACHINE_POOL

    @property
    def cluster_name(self) -> str:
        """Name of its Cluster."""
        return str(self.tree["spec"].get("clusterName") or "")

    @property
    def version(self) -> str:
        """Kubernetes version of its machines, or ""."""
        return str(self._machine_spec.get("version") or "")

    @property
    def infrastructure_kind(self) -> str:
        """Kind of its infrastructure object."""
        return str((self._machine_spec.get("infrastructureRef") or {}).get("kind") or "")

    @property
    def data_secret_name(self) -> str:
        """The data Secret that it uses already, or ""."""
        return str((self._machine_spec.get("bootstrap") or {}).get("dataSecretName") or "")

    @property
    def config_name(self) -> str:
        """Name of the SlipwayConfig that it refers to, or ""."""
        return self.config_name_in(GROUP)

    def config_name_in(self, group: str) -> str:
        """Give the name of the config that it refers to, or "" when that is a kind of another group."""
        reference = (self._machine_spec.get("bootstrap") or {}).get("configRef") or {}
        reference_group = reference.get("apiGroup") or str(reference.get("apiVersion") or "").partition("/")[0]
        return str(reference.get("name") or "") if reference_group == group else ""

    @property
    def config_kind(self) -> str:
        """Kind of its bootstrap config, or ""."""
        return str(((self._machine_spec.get("bootstrap") or {}).get("configRef") or {}).get("kind") or "")

    def refers_to(self, resource: Resource, name: str) -> bool:
        """Return whether its bootstrap config is the one of a kind with a name."""
        reference = (self._machine_spec.get("bootstrap") or {}).get("configRef") or {}
        return self.config_name_in(resource.group) == name and reference.get("kind") == resource.kind

    @property
    def is_control_plane(self) -> bool:
        """Whether it is a control-plane machine."""
        return not self.is_pool and CONTROL_PLANE_LABEL in (self.tree["metadata"].get("labels") or {})

    def relevant(self) -> tuple[object, ...]:
        """Give what configs depend on: when it is the same before and after, nothing has to be looked at."""
        configs = tuple(self.config_name_in(group) for group in (GROUP, KUBEADM_GROUP))
        return self.uid, configs, self.version, self.joined, self.deleting, self.data_secret_name

    @property
    def joined(self) -> bool:
        """Whether all of its nodes have joined, so that its token is of no use any more."""
        status = self.tree.get("status") or {}
        if not self.is_pool:
            return bool((status.get("nodeRef") or {}).get("name"))
        replicas = self.tree["spec"].get("replicas")
        return len(status.get("nodeRefs") or ()) == (1 if replicas is None else int(replicas))

    @property
    def _machine_spec(self) -> Json:
        spec: Json = self.tree["spec"]
        if self.is_pool:
            spec = (spec.get("template") or {}).get("spec") or {}
        return spec


def owner_reference(config: Json) -> tuple[str, str] | None:
    """Give kind and name of the Machine or MachinePool that owns a config."""
    for reference in config["metadata"].get("ownerReferences") or ():
        group = str(reference.get("apiVersion") or "").partition("/")[0]
        if group == CLUSTER_API_GROUP and reference.get("kind") in {MACHINE, MACHINE_POOL}:
            return str(reference["kind"]), str(reference["name"])
    return None
