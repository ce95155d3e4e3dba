"""The lock of a cluster's first machine: a ConfigMap whose creation decides.

Two machines that both ran `init` would be two clusters. The form is that of Cluster API's kubeadm provider
(bootstrap/kubeadm/pkg/locking), so that control-plane machines of both kinds exclude each other.
"""

import json
import re
from datetime import UTC, datetime

from slipway.controller.cluster_object import CLUSTER_LABEL, ClusterObject
from slipway.controller.cluster_store import cluster_owner
from slipway.controller.halt import Halt
from slipway.controller.reasons import Reason
from slipway.kubernetes_api.failures import AlreadyExists, Conflict, NotFound
from slipway.kubernetes_api.objects import Lookup, Objects
from slipway.kubernetes_api.resources import CONFIG_MAPS, MACHINES, Json

KEY = "lock-information"
STUCK_SECONDS = 20 * 60.0
_TRIES = 3
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")


class InitLock:
    """Takes and frees the locks of clusters."""

    def __init__(self, objects: Objects, machines: Lookup) -> None:
        """Use an API, and the local copy of all Machines to return whether a holder is still there."""
        self._objects = objects
        self._machines = machines
        self._freed: set[str] = set()

    async def take(self, cluster: ClusterObject, machine: str, *, now: datetime) -> None:
        """Take the lock for a machine; harmless when it holds it already.

        Raises:
            Halt: another machine holds it; the message names it and its age.
        """
        for _ in range(_TRIES):
            try:
                await self._objects.create(CONFIG_MAPS, cluster.namespace, _object(cluster, machine))
            except AlreadyExists:
                held = await self._read(cluster)
                holder = _holder(held)
                if held is None:
                    continue
                if holder == machine:
                    return
                if holder and await self._is_there(cluster.namespace, holder):
                    raise _busy(holder, held, now) from None
                await self._delete(cluster, held)
            else:
                return
        raise Halt(Reason.WAITING_FOR_INIT_LOCK, "other machines take the lock in turns", retry=True)

    async def free(self, cluster: ClusterObject, machine: str) -> None:
        """Free the lock if the machine holds it."""
        held = await self._read(cluster)
        if held is not None and _holder(held) == machine:
            await self._delete(cluster, held)

    async def free_once(self, cluster: ClusterObject, machine: str) -> None:
        """Free the lock of a cluster that is initialised; there is no second time in the life of this process."""
        if cluster.uid not in self._freed:
            await self.free(cluster, machine)
            self._freed.add(cluster.uid)

    async def _is_there(self, namespace: str, holder: str) -> bool:
        """Return whether a Machine is there; the local copy may be late, so only the API says that it is not."""
        if self._machines.get(namespace, holder) is not None:
            return True
        try:
            await self._objects.get(MACHINES, namespace, holder)
        except NotFound:
            return False
        return True

    async def _read(self, cluster: ClusterObject) -> Json | None:
        try:
            return await self._objects.get(CONFIG_MAPS, cluster.namespace, _name(cluster))
        except NotFound:
            return None

    async def _delete(self, cluster: ClusterObject, held: Json) -> None:
        try:
            await self._objects.delete(
                CONFIG_MAPS, cluster.namespace, _name(cluster), preconditions={"uid": held["metadata"]["uid"]}
            )
        except (NotFound, Conflict):
            return


def _name(cluster: ClusterObject) -> str:
    return f"{cluster.name}-lock"


def _object(cluster: ClusterObject, machine: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": _name(cluster),
            "namespace": cluster.namespace,
            "labels": {CLUSTER_LABEL: cluster.name},
            "ownerReferences": [cluster_owner(cluster)],
        },
        "data": {KEY: json.dumps({"machineName": machine})},
    }


def _holder(held: Json | None) -> str:
    """Give the name of the holder, "" where it is invalid: any client may have written it."""
    try:
        name = str(json.loads((held or {}).get("data", {})[KEY])["machineName"])
    except (KeyError, TypeError, ValueError, RecursionError):
        return ""
    return name if _NAME.fullmatch(name) else ""


def _busy(holder: str, held: Json, now: datetime) -> Halt:
    created = datetime.fromisoformat(held["metadata"]["creationTimestamp"]).astimezone(UTC)
    age = max((now - created).total_seconds(), 0.0)
    stuck = age >= STUCK_SECONDS
    message = f"Machine {holder} initialises the cluster, since {created:%Y-%m-%dT%H:%M:%SZ}"
    if stuck:
        message += ", which is too long: look at it, and delete it if it will not come up"
    return Halt(Reason.WAITING_FOR_INIT_LOCK, message, refused=stuck, after=None if stuck else STUCK_SECONDS - age)
