"""What the controller knows of one config when it decides: the config, its owner, its cluster, its data Secret."""

from collections.abc import Sequence
from dataclasses import dataclass

from slipway.bootstrapper.assembly.membership import membership_secret_name
from slipway.bootstrapper.importers.cluster_api.families import family_of_control_plane
from slipway.controller import ownership
from slipway.controller.machine_report import MachineReport
from slipway.kubernetes_api.resources import CLUSTER_API_GROUP, GROUP, KUBEADM_CONFIGS, SLIPWAY_CONFIGS, Json, Resource

CLUSTER_LABEL = "cluster.x-k8s.io/cluster-name"
CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane"
MACHINE = "Machine"
MACHINE_POOL = "MachinePool"


@dataclass(frozen=True, slots=True)
class Owner:
    """The Machine or MachinePool that owns a config."""

    tree: Json

    @property
    def kind(self) -> str:
        """Machine or MachinePool."""
        return str(self.tree["kind"])

    @property
    def is_pool(self) -> bool:
        """Whether it stands for many machines."""
        return self.kind == MACHINE_POOL

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.tree["metadata"]["name"])

    @property
    def uid(self) -> str:
        """Its uid."""
        return str(self.tree["metadata"]["uid"])

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

    @property
    def joined(self) -> bool:
        """Whether all of its nodes have joined, so that its token is of no use any more."""
        status = self.tree.get("status") or {}
        if not self.is_pool:
            return bool((status.get("nodeRef") or {}).get("name"))
        replicas = self.tree["spec"].get("replicas")
        return len(status.get("nodeRefs") or ()) == (1 if replicas is None else int(replicas))

    @property
    def deleting(self) -> bool:
        """Whether it is about to go."""
        return bool(self.tree["metadata"].get("deletionTimestamp"))

    @property
    def _machine_spec(self) -> Json:
        spec: Json = self.tree["spec"]
        if self.is_pool:
            spec = (spec.get("template") or {}).get("spec") or {}
        return spec


@dataclass(frozen=True, slots=True)
class ClusterObject:
    """A Cluster, in the fields of contract v1beta2, and of v1beta1 where they differ."""

    tree: Json

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.tree["metadata"]["name"])

    @property
    def uid(self) -> str:
        """Its uid."""
        return str(self.tree["metadata"]["uid"])

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return str(self.tree["metadata"]["namespace"])

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
            bool(self.tree["metadata"].get("deletionTimestamp")),
        )


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that a decision is made from. Objects are shared: nobody may change them.

    Attributes:
        config: the SlipwayConfig, or an opted-in KubeadmConfig.
        owner: what owns it, when it is there.
        cluster: its Cluster, when it is there.
        secret: metadata of the Secret with the config's name, when there is one.
        report: what its Machine reported last, when anything is known.
        account: metadata of the Secret of the machine's computer account, when there is one.
        account_report: metadata of the ConfigMap that reports why there is none, when there is one.
    """

    config: Json
    owner: Owner | None = None
    cluster: ClusterObject | None = None
    secret: Json | None = None
    report: MachineReport | None = None
    account: Json | None = None
    account_report: Json | None = None

    @property
    def resource(self) -> Resource:
        """Kind of the config."""
        return KUBEADM_CONFIGS if self.config.get("kind") == KUBEADM_CONFIGS.kind else SLIPWAY_CONFIGS

    @property
    def engine(self) -> str:
        """Give the bootstrap engine that a SlipwayConfig names for a machine that joins, or ""."""
        if self.resource is KUBEADM_CONFIGS:
            return ""
        spec = self.config.get("spec") or {}
        parts = (spec, spec.get("join") or {})
        named = [str((part.get("kubernetes") or {}).get("engine") or "") for part in parts]
        return named[1] or named[0]

    @property
    def joins_domain(self) -> bool:
        """Whether a Machine becomes a member of a domain, in any role."""
        if self.owner is None or self.owner.is_pool:
            return False
        spec = self.config.get("spec") or {}
        parts = (spec, spec.get("init") or {}, spec.get("join") or {})
        return any((part.get("os") or {}).get("directory") is not None for part in parts)

    @property
    def account_name(self) -> str:
        """Name of the Secret of the Machine's computer account, and of the ConfigMap that reports about it."""
        return membership_secret_name(self.owner.name if self.owner is not None else "")

    @property
    def held(self) -> bool:
        """Whether the config is still kept from the kubeadm provider, as it is until its machine's data is there."""
        return self.resource is KUBEADM_CONFIGS and ownership.held(self.config)

    @property
    def is_owned(self) -> bool:
        """Whether config and owner refer to each other, the config by uid and the owner by group, kind and name.

        One direction alone says nothing: anybody who may create a config can name a Machine as its owner.
        """
        if self.owner is None or not self.owner.refers_to(self.resource, self.name):
            return False
        references = self.config["metadata"].get("ownerReferences") or ()
        return any(reference.get("uid") == self.owner.uid for reference in references)

    @property
    def namespace(self) -> str:
        """Namespace of all of it."""
        return str(self.config["metadata"]["namespace"])

    @property
    def name(self) -> str:
        """Name of the config, and of its data Secret: it can be computed again after a move."""
        return str(self.config["metadata"]["name"])

    @property
    def uid(self) -> str:
        """Uid of the config."""
        return str(self.config["metadata"]["uid"])

    @property
    def generation(self) -> int:
        """Generation of the config."""
        return int(self.config["metadata"].get("generation") or 0)

    @property
    def status(self) -> Json:
        """Status of the config."""
        status: Json = self.config.get("status") or {}
        return status

    @property
    def conditions(self) -> Sequence[Json]:
        """Conditions of the config."""
        return self.status.get("conditions") or ()

    @property
    def is_reported(self) -> bool:
        """Whether the status says already how far the config has come; a pause is no step."""
        return any(condition["type"] != "Paused" for condition in self.conditions)

    @property
    def reported(self) -> bool:
        """Whether the status tells that the data Secret is there."""
        created = (self.status.get("initialization") or {}).get("dataSecretCreated")
        return bool(created and self.status.get("dataSecretName"))

    @property
    def paused_by(self) -> str:
        """Who has paused the config: a sentence, or ""."""
        if self.cluster is not None and self.cluster.paused:
            return "the Cluster is paused (spec.paused)"
        annotations = self.config["metadata"].get("annotations") or {}
        for name in (ownership.PAUSED, ownership.OWN_PAUSED):
            if name in annotations and not (name == ownership.PAUSED and self.held):
                return f"the config has the annotation {name}"
        return ""


def owner_reference(config: Json) -> tuple[str, str] | None:
    """Give kind and name of the Machine or MachinePool that owns a config."""
    for reference in config["metadata"].get("ownerReferences") or ():
        group = str(reference.get("apiVersion") or "").partition("/")[0]
        if group == CLUSTER_API_GROUP and reference.get("kind") in {MACHINE, MACHINE_POOL}:
            return str(reference["kind"]), str(reference["name"])
    return None
