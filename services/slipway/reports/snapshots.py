"""All reports of a namespace or cluster at a time, read once for all that watch them."""

import asyncio
import time
from collections.abc import Iterator

from slipway.contract.errors import BundleInvalid, Violation
from slipway.reports.store import ReportStore
from slipway.v1alpha1 import report_service_pb2 as reportspb

MOST_MACHINES = 20_000
"""Machines that one call watches."""

MOST_REPORTS = 500
"""Reports in a message of a watch, or in a page."""

_Reports = list[reportspb.Report]


class Snapshots:
    """Reads the store for watches: each namespace and cluster at most once in a time, however many watch it.

    It asks the store and keeps nothing else, so that a report is seen whichever replica received it.
    """

    def __init__(self, store: ReportStore, *, seconds: float) -> None:
        """Read a store; what is younger than so many seconds is given again."""
        self._store = store
        self._seconds = seconds
        self._reading: dict[tuple[str, str], tuple[float, asyncio.Task[_Reports]]] = {}

    async def get(self, namespace: str, cluster: str) -> _Reports:
        """Give the last report of each machine.

        Raises:
            BundleInvalid: there are too many machines.
            ReportsUnavailable: the store failed.
        """
        now = time.monotonic()
        for key, (read_at, task) in list(self._reading.items()):
            if task.done() and now - read_at >= self._seconds:
                del self._reading[key]
        if (namespace, cluster) not in self._reading:
            self._reading[namespace, cluster] = now, asyncio.ensure_future(self._read(namespace, cluster))
        # A watch that ends must not end what others wait for.
        return await asyncio.shield(self._reading[namespace, cluster][1])

    async def _read(self, namespace: str, cluster: str) -> _Reports:
        reports = await self._store.page(namespace, cluster=cluster, most=MOST_MACHINES + 1)
        if len(reports) > MOST_MACHINES:
            violation = Violation(
                "cluster" if not cluster else "namespace", f"has more than {MOST_MACHINES} machines: list them by page"
            )
            raise BundleInvalid("there are too many machines to watch", violations=[violation])
        return reports


class Watch:
    """What one watch has sent."""

    def __init__(self, namespace: str) -> None:
        """Begin with nothing; all reports are of a namespace."""
        self._namespace = namespace
        self._sent: dict[tuple[str, str], bytes] = {}
        self._synced = False

    def changes(self, reports: _Reports) -> Iterator[reportspb.WatchReportsResponse]:
        """Give what has changed, in messages of bounded size; at first all, and a message even if there is nothing."""
        now = {(report.machine.cluster, report.machine.name): report for report in reports}
        digests = {place: report.SerializeToString(deterministic=True) for place, report in now.items()}
        changed = [now[place] for place, digest in digests.items() if self._sent.get(place) != digest]
        messages = [
            reportspb.WatchReportsResponse(reports=changed[start : start + MOST_REPORTS])
            for start in range(0, len(changed), MOST_REPORTS)
        ]
        gone = sorted(self._sent.keys() - now.keys())
        for start in range(0, len(gone), MOST_REPORTS):
            message = reportspb.WatchReportsResponse()
            for cluster, name in gone[start : start + MOST_REPORTS]:
                message.deleted.add(namespace=self._namespace, cluster=cluster, name=name)
            messages.append(message)
        if not messages and not self._synced:
            messages.append(reportspb.WatchReportsResponse())
        for index, message in enumerate(messages):
            self._synced = self._synced or index == len(messages) - 1
            message.synced = self._synced
            yield message
        self._sent = digests
