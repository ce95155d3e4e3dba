"""Approves the serving certificates of kubelets, in the clusters whose machines this controller bootstraps.

A kubelet with `serverTLSBootstrap` asks for a first certificate, later for each next one, and serves no logs before it
has one. The cluster itself approves none of them. Nothing is denied here: what is not approved stays for people, and
for other approvers.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import partial

import structlog

from slipway.controller.cluster_object import ClusterObject
from slipway.controller.cluster_visits import ClusterVisits
from slipway.controller.serving_request import SIGNER, Doubt, doubt, is_open
from slipway.controller.workload import Connected, Workloads
from slipway.kubernetes_api.failures import Conflict, NotFound
from slipway.kubernetes_api.resources import CERTIFICATE_REQUESTS, Json

REASON = "SlipwayMachineAddresses"
MOST = 2000
"""Requests of a cluster that are read at a time; the cluster itself removes old ones."""

_PAGE = 100
_LOOK_SECONDS = 10.0
_log = structlog.get_logger("slipway.controller")


@dataclass(slots=True)
class _Cluster:
    """What is known of a cluster: the doubts about its requests by uid."""

    doubts: dict[str, Doubt] = field(default_factory=dict)


class ServingCertificates:
    """Looks at the requests of every cluster again and again, of each in its turn with one page in memory."""

    def __init__(
        self,
        workloads: Workloads,
        clusters: Callable[[], Iterable[ClusterObject]],
        machines_of: Callable[[ClusterObject], Collection[Json]],
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Look at the clusters that there are, and compare with their Machines."""
        self._clusters = clusters
        self._machines_of = machines_of
        self._visits = ClusterVisits(workloads, _Cluster, work="kubelet certificates", monotonic=monotonic)

    async def run(self) -> None:
        """Approve until cancelled."""
        await self._visits.repeat(self.look, seconds=_LOOK_SECONDS)

    async def look(self) -> None:
        """Look at each cluster once that can be asked, and is not paused.

        After a while, the clusters that have not answered are left to answer in the background.
        """
        clusters = {
            (cluster.namespace, cluster.name): cluster
            for cluster in self._clusters()
            if cluster.control_plane_initialized and not cluster.paused
        }
        for gone in self._visits.places() - clusters.keys():
            self._visits.forget(gone)
        for place, cluster in clusters.items():
            self._visits.start(place, partial(self._decide, cluster))
        await self._visits.wait(seconds=_LOOK_SECONDS)

    async def _decide(self, cluster: ClusterObject, connected: Connected, known: _Cluster) -> None:
        """Judge page by page, so that a cluster's requests are never all in memory."""
        place = cluster.namespace, cluster.name
        machines = self._machines_of(cluster)
        before, doubts = known.doubts, dict[str, Doubt]()
        async for requests in _open_requests(connected):
            # What a kubelet asks for cannot be changed afterwards: what is malformed stays so.
            judged = [(item, before.get(item["metadata"]["uid"])) for item in requests]
            again = [item for item, why in judged if why is not Doubt.MALFORMED]
            fresh = await asyncio.to_thread(_doubts, again, machines)
            doubts |= {item["metadata"]["uid"]: why for item, why in judged if why is Doubt.MALFORMED}
            for request, why in zip(again, fresh, strict=True):
                uid = request["metadata"]["uid"]
                if why is None:
                    await _approve(connected, request)
                    node = request["spec"]["username"].removeprefix("system:node:")
                    _log.info("kubelet certificate approved", cluster="/".join(place), node=node)
                    continue
                doubts[uid] = why
                if before.get(uid) != why:
                    _log.warning("kubelet certificate not approved", cluster="/".join(place), why=why.value)
        known.doubts = doubts


def _doubts(requests: Iterable[Json], machines: Collection[Json]) -> list[Doubt | None]:
    return [doubt(request, machines) for request in requests]


async def _open_requests(connected: Connected) -> AsyncIterator[list[Json]]:
    """Give the requests that are undecided, a page at a time; what has another shape is left out."""
    token, seen = "", 0
    while seen < MOST:
        items, token = await connected.page(
            CERTIFICATE_REQUESTS, size=_PAGE, token=token, fields=f"spec.signerName={SIGNER}"
        )
        yield [item for item in items if isinstance(item, dict) and _is_whole(item) and is_open(item)]
        seen += len(items)
        if not token or not items:
            return


def _is_whole(item: Json) -> bool:
    metadata = item.get("metadata")
    keys = ("name", "uid", "resourceVersion")
    return isinstance(metadata, dict) and all(
        isinstance(metadata.get(key), str) and metadata[key].isascii() for key in keys
    )


async def _approve(connected: Connected, request: Json) -> None:
    """Approve just what was read: a request that has changed since is looked at anew."""
    metadata = {key: request["metadata"][key] for key in ("uid", "resourceVersion")}
    condition = {
        "type": "Approved",
        "status": "True",
        "reason": REASON,
        "message": "names and addresses are those of the Machine in the management cluster",
    }
    body = {"metadata": metadata, "status": {"conditions": [condition]}}
    name = request["metadata"]["name"]
    try:
        await connected.merge(CERTIFICATE_REQUESTS, "", name, body, subresource="approval")
    except (Conflict, NotFound):
        return
