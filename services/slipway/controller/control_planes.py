"""Which Kubernetes version a cluster's control plane has: a field of an object of another provider's kind.

References name group and kind, not the version of the API; by Cluster API's rule the group's own discovery has it.
"""

import asyncio
import time
from collections.abc import Callable
from weakref import WeakValueDictionary

from slipway.controller.cluster_object import ClusterObject
from slipway.kubernetes_api.failures import NotFound
from slipway.kubernetes_api.objects import Objects
from slipway.kubernetes_api.resources import Resource

_KEPT_SECONDS = 30.0


class ControlPlanes:
    """Reads versions, and remembers each for half a minute: a thousand machines of a cluster ask at once."""

    def __init__(self, objects: Objects, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Read by an API."""
        self._objects = objects
        self._monotonic = monotonic
        self._resources: dict[tuple[str, str], Resource] = {}
        self._kept: dict[tuple[str, str, str, str], tuple[float, str]] = {}
        self._turns: WeakValueDictionary[tuple[str, str, str, str], asyncio.Lock] = WeakValueDictionary()

    async def version(self, cluster: ClusterObject) -> str:
        """Give the version of a cluster's control plane, "" where it is unknown."""
        reference = cluster.control_plane_reference
        if reference is None:
            return cluster.topology_version
        group = str(reference.get("apiGroup") or str(reference.get("apiVersion") or "").partition("/")[0])
        kind, name = str(reference.get("kind") or ""), str(reference.get("name") or "")
        key = (cluster.namespace, group, kind, name)
        async with self._turns.setdefault(key, asyncio.Lock()):
            kept = self._kept.get(key)
            if kept is not None and self._monotonic() < kept[0]:
                return kept[1]
            version = await self._read(group, kind, cluster.namespace, name)
            self._kept[key] = (self._monotonic() + _KEPT_SECONDS, version)
            return version

    async def _read(self, group: str, kind: str, namespace: str, name: str) -> str:
        try:
            resource = self._resources.get((group, kind)) or await self._discover(group, kind)
            plane = await self._objects.get(resource, namespace, name)
        except NotFound:
            return ""
        # An upgrade is on its way while the two differ: a kubelet may not be newer than what runs.
        return str((plane.get("status") or {}).get("version") or (plane.get("spec") or {}).get("version") or "")

    async def _discover(self, group: str, kind: str) -> Resource:
        version = (await self._objects.discover(f"/apis/{group}"))["preferredVersion"]["version"]
        resources = await self._objects.discover(f"/apis/{group}/{version}")
        for entry in resources.get("resources") or ():
            if entry["kind"] == kind and "/" not in entry["name"]:
                resource = Resource(group, version, entry["name"], kind)
                self._resources[group, kind] = resource
                return resource
        raise NotFound("GET", kind)
