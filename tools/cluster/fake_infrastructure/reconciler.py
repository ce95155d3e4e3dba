"""What becomes of each object of the fake infrastructure.

Level-based: what is done follows from the objects as they are, and doing it again changes nothing.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Any

from tools.cluster.client import Client
from tools.cluster.fake_infrastructure import definitions, nodes
from tools.cluster.fake_infrastructure.machines import Machines, NotYetError, Order

Object = dict[str, Any]

CORE = "cluster.x-k8s.io/v1beta2"
OWNERS = {definitions.MACHINE: "Machine", definitions.MACHINE_POOL: "MachinePool"}
_LOOK_SECONDS = 5
_CONTROL_PLANE = "cluster.x-k8s.io/control-plane"


@dataclass(frozen=True, slots=True)
class Reconciler:
    """Provisions, with this client."""

    client: Client
    machines: Machines
    _pools: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def reconcile(self, kind: str, namespace: str, name: str) -> None:
        """Bring one object on; what it still waits for will be an event of its own.

        Raises:
            NotYetError: something is missing of which there will be no event; try again.
            Refused: the API server did not take it; try again.
            OSError: there is none, or none of the workload cluster yet; try again.
            EngineError: a machine does not boot; try again.
        """
        body = self.client.find(definitions.API_VERSION, kind, name, namespace=namespace)
        if body is None:
            self._gone(kind, namespace, name)
        if body is None or "deletionTimestamp" in body["metadata"] or body.get("spec", {}).get("hold"):
            return
        steps = {
            definitions.CLUSTER: self._cluster,
            definitions.MACHINE: self._machine,
            definitions.MACHINE_POOL: self._machine_pool,
        }
        steps[kind](body)

    def _gone(self, kind: str, namespace: str, name: str) -> None:
        if kind == definitions.MACHINE:
            self.machines.switch_off(name)
        if kind == definitions.MACHINE_POOL:
            self._resize(namespace, name, [])

    def _cluster(self, body: Object) -> None:
        if _provisioned(body):
            return
        if not body.get("spec", {}).get("controlPlaneEndpoint"):
            host, port = self.machines.endpoint(body["metadata"]["namespace"], body["metadata"]["name"])
            self.client.patch(body, {"spec": {"controlPlaneEndpoint": {"host": host, "port": port}}})
        self._set_status(body, {})

    def _machine(self, body: Object) -> None:
        machine = self._owner(body)
        if machine is None or not machine["spec"]["bootstrap"].get("dataSecretName"):
            return
        name = body["metadata"]["name"]
        order = _order(machine, machine["spec"], image=_image(body))
        if not _provisioned(body):
            address = self.machines.switch_on(name, order)
            self.client.patch(body, {"spec": {"providerID": nodes.PROVIDER_ID + name}})
            self._set_status(body, {"addresses": [{"type": "InternalIP", "address": address}]})
        if not machine.get("status", {}).get("nodeRef") and not self.machines.join(name, order):
            self._touch(body)

    def _machine_pool(self, body: Object) -> None:
        pool = self._owner(body)
        template = {} if pool is None else pool["spec"]["template"]["spec"]
        if pool is None or not template["bootstrap"].get("dataSecretName"):
            return
        names = [f"{body['metadata']['name']}-{number}" for number in range(pool["spec"].get("replicas", 1))]
        order = _order(pool, template, image=_image(body))
        identities = [nodes.PROVIDER_ID + name for name in names]
        self._resize(pool["metadata"]["namespace"], body["metadata"]["name"], names)
        if body.get("spec", {}).get("providerIDList") != identities or not _provisioned(body):
            for name in names:
                self.machines.switch_on(name, order)
            self.client.patch(body, {"spec": {"providerIDList": identities}})
            self._set_status(body, {"replicas": len(names), "ready": True})
        if len(pool.get("status", {}).get("nodeRefs", [])) < len(names):
            for name in names:
                self.machines.join(name, order)

    def _resize(self, namespace: str, pool: str, names: list[str]) -> None:
        """Switch off what a pool has no more; machines live no longer than this process, which so knows them all."""
        for name in self._pools.get((namespace, pool), []):
            if name not in names:
                self.machines.switch_off(name)
        self._pools[namespace, pool] = names

    def _owner(self, body: Object) -> Object | None:
        wanted = OWNERS[body["kind"]]
        for reference in body["metadata"].get("ownerReferences", []):
            if reference["kind"] == wanted:
                return self.client.find(CORE, wanted, reference["name"], namespace=body["metadata"]["namespace"])
        return None

    def _touch(self, machine: Object) -> None:
        """Change the status of a machine every few seconds, as providers do that look at their machines.

        Before a control plane is initialised core watches no nodes, and looks for that of a Machine when the Machine's
        infrastructure changes. Without a change it sees the first control plane of no kind after ten minutes.

        Raises:
            NotYetError: always: it is to be changed again.
        """
        seen = dt.datetime.now(dt.UTC)
        seen = seen.replace(second=seen.second - seen.second % _LOOK_SECONDS)
        self.client.patch(machine, {"status": {"seen": f"{seen:%Y-%m-%dT%H:%M:%SZ}"}}, subresource="status")
        raise NotYetError("the machine has no node")

    def _set_status(self, body: Object, status: Object) -> None:
        now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        ready = {"type": "Ready", "status": "True", "reason": "Fake", "message": "", "lastTransitionTime": now}
        change = {"status": {"initialization": {"provisioned": True}, "conditions": [ready], **status}}
        self.client.patch(body, change, subresource="status")


def _provisioned(body: Object) -> bool:
    return bool(body.get("status", {}).get("initialization", {}).get("provisioned"))


def _image(infrastructure: Object) -> str:
    return str(infrastructure.get("spec", {}).get("image") or "")


def _order(owner: Object, spec: Object, *, image: str) -> Order:
    return Order(
        namespace=owner["metadata"]["namespace"],
        cluster=owner["spec"]["clusterName"],
        data_secret=spec["bootstrap"]["dataSecretName"],
        version=spec.get("version", ""),
        control_plane=_CONTROL_PLANE in owner["metadata"].get("labels", {}),
        image=image,
    )
