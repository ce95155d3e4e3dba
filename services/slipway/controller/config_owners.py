"""Machines and MachinePools by the configs of one kind that belong to them."""

from collections.abc import Iterable
from dataclasses import dataclass

from slipway.controller.owner import MACHINE, Owner, owner_reference
from slipway.kubernetes_api.informer import Informer
from slipway.kubernetes_api.resources import Json

BY_CLUSTER = "cluster"
"""Name of the index of Machines and MachinePools by their Cluster."""


def cluster_of(owner: Json) -> Iterable[str]:
    """Give the entry of BY_CLUSTER for a Machine or a MachinePool."""
    yield f"{owner['metadata']['namespace']}/{Owner(owner).cluster_name}"


@dataclass(frozen=True, slots=True)
class ConfigOwners:
    """The owners of configs.

    Attributes:
        machines: all Machines, indexed by BY_CLUSTER.
        pools: all MachinePools, likewise.
        configs: those of one kind that are worked on.
    """

    machines: Informer
    pools: Informer
    configs: Informer

    def owner_of(self, config: Json) -> Owner | None:
        """Give the Machine or MachinePool of a config; None when it has none, or when that is not there."""
        reference = owner_reference(config)
        if reference is None:
            return None
        kind, name = reference
        informer = self.machines if kind == MACHINE else self.pools
        owner = informer.get(config["metadata"]["namespace"], name)
        return None if owner is None else Owner(owner)

    def machines_of(self, namespace: str, cluster: str) -> list[Json]:
        """Give the Machines of a Cluster."""
        return self.machines.indexed(BY_CLUSTER, f"{namespace}/{cluster}")

    def config_name(self, owner: Owner) -> str:
        """Give the name of the config that a Machine or MachinePool refers to, or "" when it is of another kind."""
        return owner.config_name_in(self.configs.resource.group)

    def config_names(self, namespace: str, cluster: str) -> list[str]:
        """Give the names of the configs of a Cluster."""
        owners = [
            *self.machines_of(namespace, cluster),
            *self.pools.indexed(BY_CLUSTER, f"{namespace}/{cluster}"),
        ]
        return [name for name in (self.config_name(Owner(owner)) for owner in owners) if name]

    def clusters(self) -> list[tuple[str, str]]:
        """Give namespace and name of each Cluster with a Machine whose config is worked on, in order."""
        configs = set(self.configs.keys())
        machines = [Owner(machine) for machine in (self.machines.get(*key) for key in self.machines.keys()) if machine]  # noqa: SIM118  # no mapping
        own = [machine for machine in machines if (machine.namespace, self.config_name(machine)) in configs]
        return sorted({(machine.namespace, machine.cluster_name) for machine in own})
