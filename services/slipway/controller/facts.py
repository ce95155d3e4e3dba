"""What the controller knows of one config when it decides: the config, its owner, its cluster, its data Secret."""

from collections.abc import Sequence
from dataclasses import dataclass

from slipway.bootstrapper.assembly.membership import membership_secret_name
from slipway.controller import ownership
from slipway.controller.cluster_object import ClusterObject
from slipway.controller.machine_report import MachineReport
from slipway.controller.owner import Owner
from slipway.kubernetes_api.resources import KUBEADM_CONFIGS, SLIPWAY_CONFIGS, Json, Resource


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that a decision is made from. Objects are shared: they must not be changed.

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
        """Whether the status reports that the data Secret is there."""
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
