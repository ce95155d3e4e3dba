"""Visits to workload clusters, again and again, for work in all of them that must wait for none.

What a kind of work knows of a cluster is kept here, with the visit that is under way: a cluster has one at a time, in
its turn (cluster_turns.py). A defect in one visit, or in the list of clusters, ends no other visit.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import structlog

from slipway.controller.cluster_turns import ClusterTurns, Responsiveness
from slipway.controller.halt import Halt
from slipway.controller.workload import Connected, Workloads
from slipway.kubernetes_api.failures import ApiFailure
from slipway.rpc.error_mapping import describe_exception

Place = tuple[str, str]
"""Namespace and name of a cluster."""

State = TypeVar("State")
_log = structlog.get_logger("slipway.controller")


@dataclass(slots=True)
class _Cluster(Generic[State]):
    state: State
    task: asyncio.Task[None] | None = None
    responsiveness: Responsiveness = field(default_factory=Responsiveness)
    problem: str = ""


class ClusterVisits(Generic[State]):
    """The clusters that one kind of work visits, and what it knows of each."""

    def __init__(
        self,
        workloads: Workloads,
        new_state: Callable[[], State],
        *,
        work: str,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Connect by `workloads`, begin with a new state for each cluster, and log under the name of the work."""
        self._workloads = workloads
        self._new_state = new_state
        self._work = work
        self._monotonic = monotonic
        self._turns = ClusterTurns(monotonic=monotonic)
        self._clusters: dict[Place, _Cluster[State]] = {}

    def places(self) -> set[Place]:
        """Give the clusters of which something is known."""
        return set(self._clusters)

    def state(self, place: Place) -> State | None:
        """Give what is known of a cluster; None where nothing is."""
        cluster = self._clusters.get(place)
        return None if cluster is None else cluster.state

    def is_visited(self, place: Place) -> bool:
        """Return whether a visit is under way."""
        cluster = self._clusters.get(place)
        return cluster is not None and cluster.task is not None

    def forget(self, place: Place) -> None:
        """Forget a cluster, and cancel the visit that is under way."""
        cluster = self._clusters.pop(place, None)
        if cluster is not None and cluster.task is not None:
            cluster.task.cancel()

    def start(
        self,
        place: Place,
        visit: Callable[[Connected, State], Awaitable[None]],
        *,
        ended: Callable[[], None] = lambda: None,
    ) -> bool:
        """Start a visit in a task, unless one is under way or the cluster is left alone; return whether it started."""
        cluster = self._clusters.setdefault(place, _Cluster(self._new_state()))
        if cluster.task is not None or self._turns.rests(cluster.responsiveness):
            return False
        cluster.task = asyncio.create_task(self._visit(place, cluster, visit, ended))
        return True

    async def wait(self, *, seconds: float) -> None:
        """Wait for the visits that are under way; what has not ended then goes on in the background."""
        tasks = [cluster.task for cluster in self._clusters.values() if cluster.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)

    async def repeat(self, look: Callable[[], Awaitable[None]], *, seconds: float) -> None:
        """Look at all clusters every so many seconds until cancelled, which cancels the visits too."""
        try:
            while True:
                begun = self._monotonic()
                try:
                    await look()
                except Exception as error:  # noqa: BLE001  # a defect here must not end the controller
                    self._log_defect(error)
                await asyncio.sleep(max(seconds - (self._monotonic() - begun), 0.0))
        finally:
            for place in self.places():
                self.forget(place)

    async def _visit(
        self,
        place: Place,
        cluster: _Cluster[State],
        visit: Callable[[Connected, State], Awaitable[None]],
        ended: Callable[[], None],
    ) -> None:
        problem = ""
        try:
            connected = await self._workloads.connected(*place)
            if connected is None:
                return
            async with self._turns.turn(place[0], cluster.responsiveness):
                await visit(connected, cluster.state)
        except Halt as halt:
            problem = halt.reason
        except (ApiFailure, TimeoutError) as error:
            problem = type(error).__name__
        except Exception as error:  # noqa: BLE001  # what one cluster answers must not keep others waiting
            problem = type(error).__name__
            self._log_defect(error)
        finally:
            cluster.task = None
            ended()
        if problem and problem != cluster.problem:
            _log.warning("workload cluster out of reach", work=self._work, cluster="/".join(place), failure=problem)
        cluster.problem = problem

    def _log_defect(self, error: Exception) -> None:
        _log.error("work in workload clusters failed, tried again", work=self._work, **describe_exception(error))
