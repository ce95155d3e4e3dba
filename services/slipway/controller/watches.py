"""Which objects are followed, and which configs have to be looked at when one of them changes.

Only changes that matter to a config lead to a look: a cluster of a thousand machines changes a thousand times while it
is scaled, and each of its configs would be looked at each time.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

from slipway.controller import ownership
from slipway.controller.cluster_object import CLUSTER_LABEL, ClusterObject
from slipway.controller.config_owners import BY_CLUSTER, ConfigOwners, cluster_of
from slipway.controller.data_secret import Record, controller_of
from slipway.controller.facts import Facts
from slipway.controller.machine_report import MachineReport
from slipway.controller.owner import Owner
from slipway.controller.references import Dependents, Place
from slipway.controller.reporting_configs import ReportingConfigs
from slipway.controller.workload_reports import ReportingMachine
from slipway.kubernetes_api.api import Api
from slipway.kubernetes_api.informer import Informer, Key
from slipway.kubernetes_api.resources import (
    CLUSTERS,
    CONFIG_MAPS,
    KUBEADM_CONFIGS,
    MACHINE_POOLS,
    MACHINES,
    SECRETS,
    SLIPWAY_CONFIGS,
    Json,
)

_CONFIG_KINDS = frozenset({SLIPWAY_CONFIGS.kind, KUBEADM_CONFIGS.kind})


@dataclass(slots=True)
class Watches:
    """The local copies, and the wiring between them and the queue.

    Attributes:
        configs: the configs of one kind that are worked on.
        halted: the configs that cannot go on now, with the last reason of each.
        latecomers: metadata of KubeadmConfigs that bear the label of who opts in and are not ours all the same.
    """

    configs: Informer
    machines: Informer
    pools: Informer
    clusters: Informer
    secrets: Informer
    config_maps: Informer
    latecomers: Informer | None = None
    changed: Callable[[Key], None] = lambda _: None
    gone: Callable[[Json], None] = lambda _: None
    cluster_gone: Callable[[Key], None] = lambda _: None
    secret_gone: Callable[[Key], None] = lambda _: None
    payload_gone: Callable[[str, str], None] = lambda _url, _namespace: None
    report_of: Callable[[str, str, str], MachineReport | None] = lambda _namespace, _cluster, _machine: None
    halted: dict[Key, str] = field(default_factory=dict)
    _dependents: Dependents = field(default_factory=Dependents)
    _reporting: ReportingConfigs = field(default_factory=ReportingConfigs)

    @classmethod
    def of(cls, api: Api, *, namespaces: Collection[str] = (), watch_filter: str = "") -> "Watches":
        """Make the copies; `watch_filter` is the value of Cluster API's label that a config must have."""
        selector = _selector(watch_filter)
        index = {BY_CLUSTER: cluster_of}
        watches = cls(
            configs=Informer(api, SLIPWAY_CONFIGS, namespaces=namespaces, selector=selector),
            machines=Informer(api, MACHINES, namespaces=namespaces, indexes=index),
            pools=Informer(api, MACHINE_POOLS, namespaces=namespaces, indexes=index),
            clusters=Informer(api, CLUSTERS, namespaces=namespaces),
            secrets=Informer(api, SECRETS, namespaces=namespaces, metadata_only=True),
            config_maps=Informer(api, CONFIG_MAPS, namespaces=namespaces, metadata_only=True),
        )
        watches._wire()
        return watches

    def of_kubeadm_configs(self, api: Api, *, namespaces: Collection[str] = (), watch_filter: str = "") -> "Watches":
        """Make those of opted-in KubeadmConfigs; they share what these follow."""
        ours = _selector(watch_filter, f"{ownership.OWNER}={ownership.SLIPWAY}")
        late = _selector(watch_filter, ownership.MANAGED, f"!{ownership.OWNER}")
        watches = Watches(
            configs=Informer(api, KUBEADM_CONFIGS, namespaces=namespaces, selector=ours),
            machines=self.machines,
            pools=self.pools,
            clusters=self.clusters,
            secrets=self.secrets,
            config_maps=self.config_maps,
            latecomers=Informer(api, KUBEADM_CONFIGS, namespaces=namespaces, selector=late, metadata_only=True),
        )
        watches._wire()
        return watches

    @property
    def informers(self) -> tuple[Informer, ...]:
        """All copies; those of opted-in KubeadmConfigs only what they do not share."""
        if self.latecomers is not None:
            return (self.configs, self.latecomers)
        return (self.clusters, self.machines, self.pools, self.secrets, self.config_maps, self.configs)

    @property
    def synced(self) -> bool:
        """Whether all first lists are in."""
        return all(informer.synced.is_set() for informer in self.informers)

    @property
    def _owners(self) -> ConfigOwners:
        return ConfigOwners(self.machines, self.pools, self.configs)

    def facts(self, key: Key) -> Facts | None:
        """Collect what is known of a config; None when it is gone."""
        config = self.configs.get(*key) or self._latecomer(key)
        if config is None:
            return None
        owner = self._owners.owner_of(config)
        cluster = None if owner is None else self.clusters.get(key[0], owner.cluster_name)
        facts = Facts(
            config=config,
            owner=owner,
            cluster=None if cluster is None else ClusterObject(cluster),
            secret=self.secrets.get(*key),
            report=None if owner is None else self.report_of(key[0], owner.cluster_name, owner.name),
        )
        if not facts.joins_domain:
            return facts
        account = key[0], facts.account_name
        return replace(facts, account=self.secrets.get(*account), account_report=self.config_maps.get(*account))

    def namespaces(self) -> set[str]:
        """Give the namespaces with Machines."""
        return {namespace for namespace, _ in self.machines.keys()}  # noqa: SIM118  # no mapping

    def reporting_machines(self) -> Iterator[ReportingMachine]:
        """Give the Machines whose configs have them report to their own cluster, once their user data are stored."""
        return self._reporting.machines(self.machines, self.secrets)

    def own_clusters(self) -> Iterator[ClusterObject]:
        """Give the Clusters with a Machine whose config is worked on, each once."""
        for namespace, name in self._owners.clusters():
            cluster = self.clusters.get(namespace, name)
            if cluster is not None:
                yield ClusterObject(cluster)

    def machines_of(self, cluster: ClusterObject) -> list[Json]:
        """Give the Machines of a Cluster."""
        return self._owners.machines_of(cluster.namespace, cluster.name)

    def machine_reported(self, namespace: str, machine: str) -> None:
        """Look at the config of a Machine, of which there is a new report."""
        owner = self.machines.get(namespace, machine)
        if owner is not None and self._owners.config_name(Owner(owner)):
            self._look(namespace, [self._owners.config_name(Owner(owner))])

    def depend(self, facts: Facts, places: frozenset[Place]) -> None:
        """Remember what a config's spec refers to."""
        self._dependents.update((facts.namespace, facts.name), places)

    def _latecomer(self, key: Key) -> Json | None:
        latecomer = None if self.latecomers is None else self.latecomers.get(*key)
        kind = {"apiVersion": KUBEADM_CONFIGS.api_version, "kind": KUBEADM_CONFIGS.kind}
        return None if latecomer is None else {**latecomer, **kind}

    def _wire(self) -> None:
        self.configs.listen(self._on_config)
        if self.latecomers is not None:
            self.latecomers.listen(self._on_latecomer)
        self.machines.listen(self._on_owner)
        self.pools.listen(self._on_owner)
        self.clusters.listen(self._on_cluster)
        self.secrets.listen(self._on_secret)
        self.config_maps.listen(self._on_config_map)

    def _on_config(self, old: Json | None, new: Json | None) -> None:
        if new is not None:
            self._reporting.update(new, self.configs.resource)
            if old is None or _desired_state(old) != _desired_state(new):
                self.changed(_key(new))
        elif old is not None:
            key = _key(old)
            self._reporting.forget(key)
            self.halted.pop(key, None)
            self._dependents.forget(key)
            self.gone(old)

    def _on_latecomer(self, old: Json | None, new: Json | None) -> None:
        if old is None and new is not None:
            self.changed(_key(new))

    def _on_owner(self, old: Json | None, new: Json | None) -> None:
        changed = new if new is not None else old
        if changed is None or (old is not None and new is not None and Owner(old).relevant() == Owner(new).relevant()):
            return
        owner = Owner(changed)
        namespace = changed["metadata"]["namespace"]
        if self._owners.config_name(owner):
            self._look(namespace, [self._owners.config_name(owner)])
        if new is None:
            # A config that waits for this machine to begin the cluster must begin it now.
            self._look_at_halted(namespace, owner.cluster_name)

    def _on_cluster(self, old: Json | None, new: Json | None) -> None:
        cluster = new if new is not None else old
        if cluster is None:
            return
        if new is None:
            self.cluster_gone(_key(cluster))
        if old is None or new is None or ClusterObject(old).relevant() != ClusterObject(new).relevant():
            namespace, name = _key(cluster)
            self._look(namespace, self._owners.config_names(namespace, name))

    def _on_secret(self, old: Json | None, new: Json | None) -> None:
        secret = new if new is not None else old
        if secret is None:
            return
        namespace, name = _key(secret)
        if new is None:
            self.secret_gone((namespace, name))
            self._release_payload(secret)
        self._look_at_dependents(namespace, ("Secret", name))
        controller = controller_of(secret)
        if controller is not None and controller.get("kind") in _CONFIG_KINDS:
            if controller.get("kind") == self.configs.resource.kind and (
                new is None or self._handed_back(namespace, name)
            ):
                self._look(namespace, [name])
            return
        cluster = (secret["metadata"].get("labels") or {}).get(CLUSTER_LABEL)
        if cluster:
            self._look_at_halted(namespace, cluster)

    def _release_payload(self, secret: Json) -> None:
        """Release the payload of a data Secret that is gone. One that moves with its Cluster, paused then, stays.

        A Secret that no config controls has no payload, although its annotations may name one; and only a payload of
        the Secret's own namespace is released.
        """
        controller = controller_of(secret)
        if controller is None or (controller.get("kind"), controller.get("name")) not in {
            (kind, secret["metadata"]["name"]) for kind in _CONFIG_KINDS
        }:
            return
        record = Record.of_secret(secret)
        namespace = secret["metadata"]["namespace"]
        cluster = self.clusters.get(namespace, (secret["metadata"].get("labels") or {}).get(CLUSTER_LABEL) or "")
        if record is not None and record.payload and cluster is not None and not ClusterObject(cluster).paused:
            self.payload_gone(record.payload, namespace)

    def _on_config_map(self, old: Json | None, new: Json | None) -> None:
        config_map = new if new is not None else old
        if config_map is None:
            return
        namespace, name = _key(config_map)
        self._look_at_dependents(namespace, ("ConfigMap", name))

    def _handed_back(self, namespace: str, name: str) -> bool:
        config = self.configs.get(namespace, name)
        return config is not None and ownership.released(config)

    def _look_at_dependents(self, namespace: str, place: Place) -> None:
        for key in self._dependents.on(namespace, place):
            if key in self.halted:
                self.changed(key)

    def _look_at_halted(self, namespace: str, cluster: str) -> None:
        if self.halted:
            names = [name for name in self._owners.config_names(namespace, cluster) if (namespace, name) in self.halted]
            self._look(namespace, names)

    def _look(self, namespace: str, names: Iterable[str]) -> None:
        for name in names:
            if self.configs.get(namespace, name) is not None:
                self.changed((namespace, name))


def _selector(watch_filter: str, *more: str) -> str:
    filters = [f"cluster.x-k8s.io/watch-filter={watch_filter}"] if watch_filter else []
    return ",".join([*filters, *more])


def _key(item: Json) -> Key:
    return item["metadata"]["namespace"], item["metadata"]["name"]


def _desired_state(config: Json) -> tuple[object, ...]:
    """Give what of a config leads to a look: all but its status."""
    metadata = config["metadata"]
    return (
        metadata["uid"],
        metadata.get("generation"),
        metadata.get("annotations"),
        metadata.get("labels"),
        metadata.get("ownerReferences"),
        metadata.get("deletionTimestamp"),
        # A status that was removed has to be written again.
        bool(config.get("status")),
    )
