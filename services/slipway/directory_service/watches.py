"""What the service follows: SlipwayConfigs, Machines and Clusters, no Secrets; and which Machines are gone for good.

A Machine that `clusterctl move` takes to another management cluster disappears here and goes on there, and so does its
computer. Its Cluster is paused meanwhile, and its objects get a mark before they are deleted.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from slipway.controller.cluster_object import ClusterObject
from slipway.controller.config_owners import BY_CLUSTER, cluster_of
from slipway.controller.facts import Facts
from slipway.controller.owner import MACHINE, Owner, owner_reference
from slipway.kubernetes_api.api import Api
from slipway.kubernetes_api.informer import Informer, Key
from slipway.kubernetes_api.resources import CLUSTERS, MACHINES, SLIPWAY_CONFIGS, Json

MOVED = "clusterctl.cluster.x-k8s.io/delete-for-move"
"""Annotation of objects that `clusterctl move` deletes, since they are in the other cluster."""
_MOST_GONE = 10_000


@dataclass(slots=True)
class Watches:
    """The local copies.

    Attributes:
        changed: gets the key of a Machine that has to be looked at.
        gone: Machines that were deleted, and not moved, since the process began; the newest 10,000.
    """

    configs: Informer
    machines: Informer
    clusters: Informer
    changed: Callable[[Key], None] = lambda _: None
    gone: "OrderedDict[Key, None]" = field(default_factory=OrderedDict)

    @classmethod
    def of(cls, api: Api, *, namespaces: Collection[str] = ()) -> "Watches":
        """Make the copies, of some namespaces or of all."""
        watches = cls(
            configs=Informer(api, SLIPWAY_CONFIGS, namespaces=namespaces),
            machines=Informer(api, MACHINES, namespaces=namespaces, indexes={BY_CLUSTER: cluster_of}),
            clusters=Informer(api, CLUSTERS, namespaces=namespaces),
        )
        watches.configs.listen(watches.on_config)
        watches.machines.listen(watches.on_machine)
        watches.clusters.listen(watches.on_cluster)
        return watches

    @property
    def informers(self) -> tuple[Informer, ...]:
        """All copies."""
        return (self.clusters, self.machines, self.configs)

    def facts(self, key: Key) -> Facts | None:
        """Collect what is known of a Machine; None where it, or its SlipwayConfig, does not exist."""
        machine = self.machines.get(*key)
        if machine is None:
            return None
        owner = Owner(machine)
        config = self.configs.get(key[0], owner.config_name) if owner.config_name else None
        cluster = self.clusters.get(key[0], owner.cluster_name)
        if config is None:
            return None
        return Facts(config=config, owner=owner, cluster=None if cluster is None else ClusterObject(cluster))

    def exists(self, key: Key) -> bool:
        """Return whether there is a Machine of that name."""
        return self.machines.get(*key) is not None

    def on_config(self, old: Json | None, new: Json | None) -> None:
        """Look at the Machine of a config that appears or changes."""
        del old
        reference = None if new is None else owner_reference(new)
        if new is not None and reference is not None and reference[0] == MACHINE:
            self.changed((new["metadata"]["namespace"], reference[1]))

    def on_machine(self, old: Json | None, new: Json | None) -> None:
        """Look at a Machine that appears or changes, and remember one that is gone for good."""
        item = new if new is not None else old
        if item is None:
            return
        key = item["metadata"]["namespace"], item["metadata"]["name"]
        if new is None:
            if not self._is_deleted(item):
                return
            self.gone[key] = None
            while len(self.gone) > _MOST_GONE:
                self.gone.popitem(last=False)
        self.changed(key)

    def on_cluster(self, old: Json | None, new: Json | None) -> None:
        """Look at the Machines of a Cluster when something changes that they depend on."""
        if new is None or (old is not None and ClusterObject(old).relevant() == ClusterObject(new).relevant()):
            return
        metadata = new["metadata"]
        for machine in self.machines.indexed(BY_CLUSTER, f"{metadata['namespace']}/{metadata['name']}"):
            self.changed((metadata["namespace"], machine["metadata"]["name"]))

    def _is_deleted(self, machine: Json) -> bool:
        """Return whether the last state that was seen of a Machine shows that it is being deleted."""
        metadata = machine["metadata"]
        if not metadata.get("deletionTimestamp") or MOVED in (metadata.get("annotations") or {}):
            return False
        cluster = self.clusters.get(metadata["namespace"], Owner(machine).cluster_name)
        return cluster is None or not ClusterObject(cluster).paused
