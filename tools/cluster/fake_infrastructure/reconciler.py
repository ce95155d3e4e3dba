"""What becomes of each object of the fake infrastructure.

Level-based: what is done follows from the objects as they are, and doing it again changes nothing.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from tools.cluster.client import Client
from tools.cluster.fake_infrastructure import definitions, nodes

Object = dict[str, Any]

CORE = "cluster.x-k8s.io/v1beta2"
OWNERS = {definitions.MACHINE: "Machine", definitions.MACHINE_POOL: "MachinePool"}
_CONTROL_PLANE = "cluster.x-k8s.io/control-plane"
_ADDRESS = "127.0.0.1"


class NotYetError(Exception):
    """Something must be there first."""


@dataclass(frozen=True, slots=True)
class Reconciler:
    """Provisions, with this client."""

    client: Client

    def reconcile(self, kind: str, namespace: str, name: str) -> None:
        """Bring one object on; what it still waits for will be an event of its own.

        Raises:
            NotYetError: something is missing that no event will tell of; try again.
            Refused: the API server did not take it; try again.
            OSError: there is none, or none of the workload cluster yet; try again.
        """
        found = self.client.find(definitions.API_VERSION, kind, name, namespace=namespace)
        if found is None or "deletionTimestamp" in found["metadata"] or found.get("spec", {}).get("hold"):
            return
        steps = {
            definitions.CLUSTER: self._cluster,
            definitions.MACHINE: self._machine,
            definitions.MACHINE_POOL: self._machine_pool,
        }
        steps[kind](found)

    def _cluster(self, found: Object) -> None:
        if _provisioned(found):
            return
        if not found.get("spec", {}).get("controlPlaneEndpoint"):
            endpoint = self._endpoint(found["metadata"]["name"])
            self.client.patch(found, {"spec": {"controlPlaneEndpoint": endpoint}})
        self._tell(found, {})

    def _endpoint(self, cluster: str) -> Object:
        known = self.client.find("v1", "ConfigMap", definitions.API_SERVERS, namespace=definitions.NAMESPACE)
        host, _, port = (known or {}).get("data", {}).get(cluster, "").rpartition(":")
        if not host:
            raise NotYetError(f"no API server is known for cluster {cluster}")
        return {"host": host, "port": int(port)}

    def _machine(self, found: Object) -> None:
        machine = self._owner(found)
        if machine is None or not machine["spec"]["bootstrap"].get("dataSecretName"):
            return
        name = found["metadata"]["name"]
        if not _provisioned(found):
            self.client.patch(found, {"spec": {"providerID": nodes.PROVIDER_ID + name}})
            self._tell(found, {"addresses": [{"type": "InternalIP", "address": _ADDRESS}]})
        if not machine.get("status", {}).get("nodeRef"):
            labels = machine["metadata"].get("labels", {})
            self._register(machine, [name], machine["spec"].get("version", ""), control_plane=_CONTROL_PLANE in labels)

    def _machine_pool(self, found: Object) -> None:
        pool = self._owner(found)
        template = {} if pool is None else pool["spec"]["template"]["spec"]
        if pool is None or not template["bootstrap"].get("dataSecretName"):
            return
        names = [f"{found['metadata']['name']}-{number}" for number in range(pool["spec"].get("replicas", 1))]
        identities = [nodes.PROVIDER_ID + name for name in names]
        if found.get("spec", {}).get("providerIDList") != identities or not _provisioned(found):
            self.client.patch(found, {"spec": {"providerIDList": identities}})
            self._tell(found, {"replicas": len(names), "ready": True})
        if len(pool.get("status", {}).get("nodeRefs", [])) < len(names):
            self._register(pool, names, template.get("version", ""), control_plane=False)

    def _register(self, owner: Object, names: list[str], version: str, *, control_plane: bool) -> None:
        namespace, cluster = owner["metadata"]["namespace"], owner["spec"]["clusterName"]
        workload = nodes.workload_client(self.client, namespace=namespace, cluster=cluster)
        for name in names:
            nodes.register(workload, name, version=version, control_plane=control_plane)

    def _owner(self, found: Object) -> Object | None:
        wanted = OWNERS[found["kind"]]
        for reference in found["metadata"].get("ownerReferences", []):
            if reference["kind"] == wanted:
                return self.client.find(CORE, wanted, reference["name"], namespace=found["metadata"]["namespace"])
        return None

    def _tell(self, found: Object, status: Object) -> None:
        now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        ready = {"type": "Ready", "status": "True", "reason": "Fake", "message": "", "lastTransitionTime": now}
        change = {"status": {"initialization": {"provisioned": True}, "conditions": [ready], **status}}
        self.client.patch(found, change, subresource="status")


def _provisioned(found: Object) -> bool:
    return bool(found.get("status", {}).get("initialization", {}).get("provisioned"))
