"""Approves the serving certificates of kubelets, in the clusters whose machines this controller bootstraps.

A kubelet with `serverTLSBootstrap` asks for a first certificate, later for each next one, and serves no logs before it
has one. The cluster itself approves none of them. Nothing is denied here: what is not approved stays for people, and
for other approvers.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from dataclasses import dataclass, field

import structlog

from slipway.controller.cluster_object import ClusterObject
from slipway.controller.cluster_turns import ClusterTurns, Responsiveness
from slipway.controller.halt import Halt
from slipway.controller.serving_request import SIGNER, Doubt, doubt, is_open
from slipway.controller.workload import Connected, Workloads
from slipway.kubernetes_api.failures import ApiFailure, Conflict, NotFound
from slipway.kubernetes_api.resources import CERTIFICATE_REQUESTS, Json
from slipway.rpc.error_mapping import describe_exception

REASON = "SlipwayMachineAddresses"
MOST = 2000
"""Requests of a cluster that are read at a time; the cluster itself removes old ones."""

_PAGE = 100
_LOOK_SECONDS = 10.0
_log = structlog.get_logger("slipway.controller")


@dataclass(slots=True)
class _Cluster:
    """What is known of a cluster: the doubts about its requests by uid, and how it answers."""

    doubts: dict[str, Doubt] = field(default_factory=dict)
    looking: asyncio.Task[None] | None = None
    responsiveness: Responsiveness = field(default_factory=Responsiveness)
    problem: str = ""


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
        self._workloads = workloads
        self._clusters = clusters
        self._machines_of = machines_of
        self._monotonic = monotonic
        self._known: dict[tuple[str, str], _Cluster] = {}
        self._turns = ClusterTurns(monotonic=monotonic)

    async def run(self) -> None:
        """Approve until cancelled."""
        try:
            while True:
                begun = self._monotonic()
                try:
                    await self.look()
                except Exception as error:  # noqa: BLE001  # a defect here must not end the controller
                    _log.error("approval of kubelet certificates failed, begun anew", **describe_exception(error))
                await asyncio.sleep(max(_LOOK_SECONDS - (self._monotonic() - begun), 0.0))
        finally:
            for place in list(self._known):
                self._forget(place)

    async def look(self) -> None:
        """Look at each cluster once that can be asked, and is not paused.

        After a while, the clusters that have not answered are left to answer in the background.
        """
        clusters = {
            (cluster.namespace, cluster.name): cluster
            for cluster in self._clusters()
            if cluster.control_plane_initialized and not cluster.paused
        }
        for gone in self._known.keys() - clusters.keys():
            self._forget(gone)
        for place, cluster in clusters.items():
            known = self._known.setdefault(place, _Cluster())
            if known.looking is None and not self._turns.rests(known.responsiveness):
                known.looking = asyncio.create_task(self._look_at(cluster, known))
        looking = [known.looking for known in self._known.values() if known.looking is not None]
        if looking:
            await asyncio.wait(looking, timeout=_LOOK_SECONDS)

    def _forget(self, place: tuple[str, str]) -> None:
        looking = self._known.pop(place).looking
        if looking is not None:
            looking.cancel()

    async def _look_at(self, cluster: ClusterObject, known: _Cluster) -> None:
        place = cluster.namespace, cluster.name
        problem = ""
        try:
            connected = await self._workloads.connected(*place)
            if connected is None:
                return
            async with self._turns.turn(cluster.namespace, known.responsiveness):
                await self._decide(connected, cluster, known)
        except Halt as halt:
            problem = halt.reason
        except (ApiFailure, TimeoutError) as error:
            problem = type(error).__name__
        except Exception as error:  # noqa: BLE001  # what one cluster answers must not keep others waiting
            problem = type(error).__name__
            _log.error("a cluster's kubelet certificates could not be judged", **describe_exception(error))
        finally:
            known.looking = None
        if problem and problem != known.problem:
            _log.warning("kubelet certificates out of reach", cluster="/".join(place), failure=problem)
        known.problem = problem

    async def _decide(self, connected: Connected, cluster: ClusterObject, known: _Cluster) -> None:
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
