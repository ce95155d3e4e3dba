"""The running controller: watches fill a queue, workers empty it, as long as this replica leads."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

import structlog

from slipway.controller.metrics import Load
from slipway.controller.reconciler import Next, Reconciler
from slipway.controller.report_sources import ReportSource, report_of
from slipway.controller.watches import Watches
from slipway.controller.work_queue import WorkQueue
from slipway.kubernetes_api.election import Election
from slipway.kubernetes_api.informer import Informer, Key
from slipway.kubernetes_api.resources import Json
from slipway.rpc.error_mapping import describe_exception
from slipway.v1alpha1 import registry_service_pb2 as registrypb

_LAST_SECONDS = 5.0
_ANOTHER_LARGE = 0.5
"""Seconds after which a large config is looked at again because another one is worked on."""
_log = structlog.get_logger("slipway.controller")


class Controller:
    """Works on configs of one kind, and leads the controllers of other kinds that stand beside it."""

    def __init__(  # noqa: PLR0913  # keyword-only parts
        self,
        watches: Watches,
        reconciler: Reconciler,
        *,
        workers: int,
        beside: Sequence["Controller"] = (),
        reports: Sequence[ReportSource] = (),
        runs: Sequence[Callable[[], Coroutine[Any, Any, None]]] = (),
    ) -> None:
        """Wire watches, queue and reconciler, and sources of reports; nothing runs before `follow` and `lead`.

        `runs` is what else only the leader does, each until it is cancelled.
        """
        self.beside = tuple(beside)
        self._reports = tuple(reports)
        self._runs = tuple(runs)
        self.queue: WorkQueue[Key] = WorkQueue()
        self.watches = watches
        self._reconciler = reconciler
        self._workers = workers
        self._since: dict[Key, tuple[str, float]] = {}
        self._provisioners: frozenset[tuple[str, str, int]] = frozenset()
        self._background: set[asyncio.Task[None]] = set()
        self._looks: set[asyncio.Task[None]] = set()
        self._at_large = False
        watches.changed = self.queue.add
        watches.gone = self._forget
        watches.cluster_gone = self._forget_cluster
        for source in self._reports:
            source.changed = self._reported
        if self._reports:
            for each in (self, *self.beside):
                each.watches.report_of = report_of(self._reports)

    @property
    def informers(self) -> tuple[Informer, ...]:
        """The local copies of this controller, and of those beside it."""
        return (*self.watches.informers, *(informer for other in self.beside for informer in other.informers))

    def loads(self) -> list[Load]:
        """Return the work that there is now, of this controller and those beside it: none, while it does not lead."""
        load = Load(kind=self.watches.configs.resource.kind)
        if self._reconciler.metrics.leading:
            load = replace(
                load,
                waiting=len(self.queue),
                delayed=self.queue.delayed,
                working=self.queue.working,
                halted=Counter(self.watches.halted.values()),
            )
        return [load, *(load for other in self.beside for load in other.loads())]

    def follow(self) -> None:
        """Keep local copies from now on. Every replica does, so that the next leader knows everything already."""
        for informer in self.informers:
            informer.start()

    async def lead(self, election: Election | None) -> None:
        """Wait to be elected, then work until cancelled. Without an election this process is the only one.

        Raises:
            LostLeadership: another replica may write now.
        """
        for informer in self.informers:
            await informer.synced.wait()
        keeper: asyncio.Task[None] | None = None
        if election is not None:
            await election.win()
            keeper = asyncio.ensure_future(election.keep())
        self._reconciler.metrics.leading = True
        workers = [worker for controller in (self, *self.beside) for worker in controller.start_workers()]
        workers += [asyncio.ensure_future(source.run()) for source in self._reports]
        workers += [asyncio.ensure_future(run()) for run in self._runs]
        try:
            await asyncio.gather(*workers, *([keeper] if keeper else []))
        finally:
            self._reconciler.metrics.leading = False
            for worker in workers:
                worker.cancel()
            for controller in (self, *self.beside):
                await controller.finish()
            if election is not None and keeper is not None:
                await _end([keeper])
                await election.resign()

    def start_workers(self) -> list[asyncio.Task[None]]:
        """Begin to work, and give the tasks that do."""
        return [asyncio.ensure_future(self._work()) for _ in range(self._workers)]

    async def stop(self) -> None:
        """Follow no longer, and close the lines to workload clusters."""
        for other in self.beside:
            await other.stop()
        for informer in self.watches.informers:
            await informer.stop()
        await self._reconciler.workloads.close()

    def provisioners_told(self, instances: Sequence[registrypb.ProvisionerInstance]) -> None:
        """Look at everything that could not go on, since the list of provisioners has changed."""
        for other in self.beside:
            other.provisioners_told(instances)
        now = frozenset(
            (instance.info.name, instance.info.implementation_version, instance.state) for instance in instances
        )
        if now != self._provisioners:
            self._provisioners = now
            for key in list(self.watches.halted):
                self.queue.add(key)

    async def finish(self) -> None:
        """Let looks that have begun come to their end, for a while."""
        if self._looks:
            await asyncio.wait(list(self._looks), timeout=_LAST_SECONDS)
        await _end(list(self._looks))

    async def _work(self) -> None:
        while True:
            key = await self.queue.take()
            look = asyncio.ensure_future(self._look(key))
            self._looks.add(look)
            look.add_done_callback(self._looks.discard)
            try:
                # A cancelled worker leaves what it has begun to the end: half a reconcile is a crash.
                await asyncio.shield(look)
            except Exception as error:  # noqa: BLE001  # one config's defect must not stop the others
                self.queue.add_failed(key)
                _log.error("reconcile failed", config="/".join(key), **describe_exception(error))
            finally:
                self.queue.done(key)

    async def _look(self, key: Key) -> None:
        """Look at a config; at one large config at a time, while the workers go on with the others."""
        large = self.watches.configs.is_large(*key)
        if large and self._at_large:
            self.queue.add_after(key, _ANOTHER_LARGE)
            return
        self._at_large |= large
        try:
            await self._reconcile(key)
        finally:
            self._at_large &= not large

    async def _reconcile(self, key: Key) -> None:
        facts = self.watches.facts(key)
        if facts is None:
            self.queue.forget(key)
            return
        started = time.perf_counter()
        following = await self._reconciler.reconcile(facts, waited=lambda reason: self._waited(key, reason))
        self._reconciler.metrics.reconciled(time.perf_counter() - started)
        if self.watches.facts(key) is None:
            # It went meanwhile, when everything about it was forgotten.
            self._forget(facts.config)
            return
        self._schedule(key, following)

    def _schedule(self, key: Key, following: Next) -> None:
        if following.reason:
            self.watches.halted[key] = following.reason
        else:
            self.watches.halted.pop(key, None)
            self._since.pop(key, None)
        if following.failed:
            self.queue.add_failed(key)
            return
        self.queue.forget(key)
        if following.after is not None:
            self.queue.add_after(key, following.after)

    def _waited(self, key: Key, reason: str) -> float:
        now = time.monotonic()
        if self._since.get(key, ("", 0.0))[0] != reason:
            self._since[key] = (reason, now)
        return now - self._since[key][1]

    def _reported(self, namespace: str, machine: str) -> None:
        for each in (self, *self.beside):
            each.watches.machine_reported(namespace, machine)

    def _forget(self, config: Json) -> None:
        metadata = config["metadata"]
        key = (metadata["namespace"], metadata["name"])
        self.watches.halted.pop(key, None)
        self._since.pop(key, None)
        self.queue.forget(key)
        self._reconciler.reporter.forget(metadata["uid"])

    def _forget_cluster(self, key: Key) -> None:
        task = asyncio.ensure_future(self._reconciler.workloads.forget(*key))
        self._background.add(task)
        task.add_done_callback(self._background.discard)


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    with contextlib.suppress(asyncio.CancelledError, TimeoutError):
        async with asyncio.timeout(_LAST_SECONDS):
            await asyncio.gather(*tasks, return_exceptions=True)
