"""Readings of log bundles for pages: each is read once for all that look at it, and a page waits a short time."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator

from slipway.contract.errors import Overloaded
from slipway.reports.bundle_refusal import BundleRefused
from slipway.reports.log_reader import LogReader, Reading, Request
from slipway.reports.store import ReportStore
from slipway.v1alpha1 import report_service_pb2 as reportspb

_KEPT = 32
_MOST_WAITING = 8
_LARGEST = 16 * 2**20
"""Bytes of a log bundle; none is kept that has more than 8 MiB."""

_Key = tuple[str, str, str, str, int, Request]


class Readings:
    """Reads log bundles."""

    def __init__(self, store: ReportStore, reader: LogReader) -> None:
        """Read bundles of a store."""
        self._store = store
        self._reader = reader
        self._tasks: OrderedDict[_Key, asyncio.Task[Reading]] = OrderedDict()

    async def get(self, report: reportspb.Report, request: Request, *, patience: float) -> Reading | None:
        """Give a reading of the log bundle of a report; None when it takes longer than so many seconds.

        Raises:
            BundleRefused: it cannot be read.
            Overloaded: too many are waiting to be read.
            ReportNotFound, ReportsUnavailable: as the store.
        """
        machine, received = report.machine, report.log_bundle.receive_time.ToMilliseconds()
        key = (machine.namespace, machine.cluster, machine.name, report.bundle_id, received, request)
        task = self._tasks.get(key)
        if task is None or (task.done() and (task.cancelled() or _is_passing(task.exception()))):
            if sum(not other.done() for other in self._tasks.values()) >= _MOST_WAITING:
                raise Overloaded("too many log bundles wait to be read: try again later")
            task = self._tasks[key] = asyncio.ensure_future(self._read(report, request))
        self._tasks.move_to_end(key)
        while len(self._tasks) > _KEPT and next(iter(self._tasks.values())).done():
            self._tasks.popitem(last=False)
        # A visitor who is gone must not end what others wait for.
        done, _ = await asyncio.wait([task], timeout=patience)
        return task.result() if done else None

    async def close(self) -> None:
        """End what is being read."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _read(self, report: reportspb.Report, request: Request) -> Reading:
        parts, size = [], 0
        async for part in log_parts(self._store, report):
            size += len(part)
            if size > _LARGEST:
                raise BundleRefused(f"has more than {_LARGEST >> 20} MiB")
            parts.append(part)
        return await self._reader.read(request, b"".join(parts))


async def log_parts(store: ReportStore, report: reportspb.Report) -> AsyncIterator[bytes]:
    """Give the log bundle of a report in parts.

    Raises:
        ReportNotFound, ReportsUnavailable: as the store.
    """
    machine = report.machine
    parts = await store.logs(machine.namespace, machine.cluster, machine.name, report.bundle_id)
    while part := await store.next_part(parts):
        yield part


def _is_passing(error: BaseException | None) -> bool:
    """Whether it may be another time: a bundle that was refused is refused again."""
    return error is not None and not isinstance(error, BundleRefused)
