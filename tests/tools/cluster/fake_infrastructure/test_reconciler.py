"""What the fake infrastructure has done to machines, by what becomes of the objects."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from tools.cluster.fake_infrastructure import definitions
from tools.cluster.fake_infrastructure.machines import NotYetError, Order
from tools.cluster.fake_infrastructure.reconciler import CORE, Reconciler

Object = dict[str, Any]


@dataclass
class Stored:
    """Objects by kind and name, as the reconciler reads and changes them."""

    objects: dict[tuple[str, str], Object] = field(default_factory=dict)

    def find(self, _api_version: str, kind: str, name: str, *, namespace: str) -> Object | None:
        assert namespace == "default"
        return self.objects.get((kind, name))

    def patch(self, document: Object, change: Object, *, subresource: str = "") -> None:
        assert subresource in {"", "status"}
        for part, values in change.items():
            document.setdefault(part, {}).update(values)


@dataclass
class Switched:
    """Machines that are on, by name."""

    on: set[str] = field(default_factory=set)
    images: set[str] = field(default_factory=set)
    joins: bool = True

    def switch_on(self, name: str, _order: Order) -> str:
        self.on.add(name)
        return "127.0.0.1"

    def switch_off(self, name: str) -> None:
        self.on.discard(name)

    def join(self, name: str, order: Order) -> bool:
        assert name in self.on
        self.images.add(order.image)
        return self.joins


def _put(stored: Stored, api_version: str, kind: str, spec: Object, *, owner: str = "") -> Object:
    references = [{"kind": owner, "name": "p"}] if owner else []
    metadata = {"name": "p", "namespace": "default", "ownerReferences": references}
    made = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
    stored.objects[kind, "p"] = made
    return made


def test_a_pool_has_as_many_machines_as_it_is_to_have() -> None:
    """Smaller, it loses the last ones; gone, it loses all."""
    stored, machines = Stored(), Switched()
    template = {"bootstrap": {"dataSecretName": "p"}}
    pool = _put(stored, CORE, "MachinePool", {"clusterName": "c", "replicas": 3, "template": {"spec": template}})
    infrastructure = _put(stored, definitions.API_VERSION, definitions.MACHINE_POOL, {}, owner="MachinePool")
    reconciler = Reconciler(stored, machines)  # type: ignore[arg-type]

    def reconcile() -> set[str]:
        reconciler.reconcile(definitions.MACHINE_POOL, "default", "p")
        return machines.on

    assert reconcile() == {"p-0", "p-1", "p-2"}
    assert infrastructure["spec"]["providerIDList"] == ["fake://p-0", "fake://p-1", "fake://p-2"]
    pool["spec"]["replicas"] = 1
    assert reconcile() == {"p-0"}
    assert infrastructure["spec"]["providerIDList"] == ["fake://p-0"]
    del stored.objects[definitions.MACHINE_POOL, "p"]
    assert reconcile() == set()


def test_a_machine_without_a_node_changes_while_it_is_looked_at() -> None:
    """Core, which watches no nodes at first, looks at a Machine when its infrastructure changes."""
    stored, machines = Stored(), Switched(joins=False)
    spec = {"clusterName": "c", "bootstrap": {"dataSecretName": "p"}}
    machine = _put(stored, CORE, "Machine", spec)
    infrastructure = _put(stored, definitions.API_VERSION, definitions.MACHINE, {"image": "new"}, owner="Machine")
    reconciler = Reconciler(stored, machines)  # type: ignore[arg-type]

    with pytest.raises(NotYetError):
        reconciler.reconcile(definitions.MACHINE, "default", "p")
    assert infrastructure["status"].pop("seen")
    assert machines.images == {"new"}
    machine["status"] = {"nodeRef": {"name": "p"}}
    reconciler.reconcile(definitions.MACHINE, "default", "p")
    assert "seen" not in infrastructure["status"]
