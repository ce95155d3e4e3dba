"""The reports: taken in, listed by their names, and put together for a machine.

Two replicas may take the same report at the same time. An object is never changed: a newer one counts, and who writes
it deletes those that it replaces.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

from google.protobuf.timestamp_pb2 import Timestamp

from slipway.contract.errors import ReportNotFound
from slipway.reports.names import BundleKey, Entry, EventsName, LogsName, Summary, folder_of, reason_of
from slipway.reports.objects import Objects
from slipway.reports.outcomes import Outcomes
from slipway.reports.summary import lines, merged, phases, read_events, summary
from slipway.v1alpha1 import report_pb2 as reportpb
from slipway.v1alpha1 import report_service_pb2 as reportspb

KEPT = 3
"""Objects of a bundle and source that are kept, with what two replicas wrote at the same time."""

_CHUNK = 256 * 2**10
_FEW = 1000
"""Machines of a page; a watch has all of them, and reads a folder as a whole."""
_BEHIND = "z" * 129
"""Behind every id of a bundle, in the order of names."""


@dataclass
class Kept:
    """The objects of a bundle.

    Attributes:
        key: the bundle.
        entries: its objects, the newest first.
    """

    key: BundleKey
    entries: list[Entry] = field(default_factory=list)

    @property
    def milliseconds(self) -> int:
        """When the newest was received."""
        return max(entry.name.milliseconds for entry in self.entries)

    def events(self, source: reportspb.ReportSource.ValueType) -> list[tuple[Entry, EventsName]]:
        """Give the events of a source, the newest first."""
        names = [(entry, entry.name) for entry in self.entries if isinstance(entry.name, EventsName)]
        return sorted(
            ((entry, name) for entry, name in names if name.source == source),
            key=lambda pair: (pair[1].milliseconds, pair[1].digest),
            reverse=True,
        )

    def logs(self) -> list[Entry]:
        """Give the log bundles, the newest first."""
        entries = [entry for entry in self.entries if isinstance(entry.name, LogsName)]
        return sorted(entries, key=lambda entry: (entry.name.milliseconds, entry.name.digest), reverse=True)


class ReportStore:
    """Takes and gives reports. Every call raises ReportsUnavailable when the object store fails."""

    def __init__(self, objects: Objects, milliseconds: Callable[[], int], outcomes: Outcomes | None = None) -> None:
        """Keep reports in an object store.

        Args:
            objects: the object store.
            milliseconds: gives the time in milliseconds since 1970 (UTC).
            outcomes: counts how bootstraps end.
        """
        self._outcomes = outcomes
        self._objects = objects
        self._milliseconds = milliseconds

    async def add_events(
        self, key: BundleKey, source: reportspb.ReportSource.ValueType, data: bytes
    ) -> tuple[int, int]:
        """Keep the events of a bundle in a text; give their number, and that of events of other bundles.

        The same events again change nothing.
        """
        return await self._objects.run(lambda: self._add_events(key, source, data))

    async def add_logs(self, key: BundleKey, data: bytes, *, reason: str = "") -> None:
        """Keep a log bundle, whose secrets have been removed, in place of an earlier one.

        `reason`: the first one that the diagnosis found in it; one that breaks the grammar of reasons is left out.
        """
        await self._objects.run(lambda: self._add_logs(key, data, reason_of(reason)))

    async def report(self, namespace: str, cluster: str, machine: str, bundle_id: str = "") -> reportspb.Report:
        """Give the report of a machine with its events, of a bundle or of the last one.

        Raises:
            ReportNotFound: no such report exists.
        """
        return await self._objects.run(lambda: self._report(self._last(namespace, cluster, machine, bundle_id)))

    async def logs(self, namespace: str, cluster: str, machine: str, bundle_id: str = "") -> Iterator[bytes]:
        """Give the last log bundle of a machine in parts; each part is read when it is asked for, see next_part().

        Raises:
            ReportNotFound: no such report exists.
        """
        return await self._objects.run(
            lambda: self._log_parts(self._last(namespace, cluster, machine, bundle_id, with_logs=True))
        )

    async def next_part(self, parts: Iterator[bytes]) -> bytes:
        """Give the next part of a log bundle, empty at its end."""
        return await self._objects.run(lambda: next(parts, b""))

    async def page(
        self, namespace: str, *, cluster: str = "", machine: str = "", after: str = "", most: int
    ) -> list[reportspb.Report]:
        """Give the last report of each machine, without events, in the order of their places and behind a place."""
        return await self._objects.run(lambda: self._page(namespace, cluster, machine, after, most))

    def _add_events(self, key: BundleKey, source: reportspb.ReportSource.ValueType, data: bytes) -> tuple[int, int]:
        events, foreign = read_events(data, key.bundle_id)
        if events:
            kept = self._kept(key)
            earlier = kept.events(source)
            before = self._objects.get(earlier[0][0].path) if earlier else None
            events_before, _ = read_events(before or b"", key.bundle_id)
            every = merged(events_before, events)
            content = lines(every)
            name = EventsName(self._milliseconds(), source, _digest(content), summary(every))
            if not earlier or earlier[0][1].digest != name.digest:
                self._objects.put(f"{key.folder}/{name.text()}", content)
                for entry, _ in earlier[KEPT - 1 :]:
                    self._objects.delete(entry.path)
                self._count(name.summary, kept, every)
        return len(events), foreign

    def _count(self, short: Summary, before: Kept, events: Sequence[reportpb.BootstrapEvent]) -> None:
        if self._outcomes is not None:
            states = {entry.name.summary.state for entry in before.entries if isinstance(entry.name, EventsName)}
            self._outcomes.count(short.state, short.reason, before=states, phases=lambda: phases(events))

    def _add_logs(self, key: BundleKey, data: bytes, reason: str) -> None:
        earlier, digest = self._kept(key).logs(), _digest(data)
        # The same logs again, whose diagnosis was cut short this time, keep what was found in them before.
        known = [
            entry.name.reason for entry in earlier if isinstance(entry.name, LogsName) and entry.name.digest == digest
        ]
        name = LogsName(self._milliseconds(), digest, reason or next(filter(None, known), ""))
        path = f"{key.folder}/{name.text()}"
        self._objects.put(path, data)
        for entry in earlier:
            if entry.path != path:
                self._objects.delete(entry.path)

    def _kept(self, key: BundleKey) -> Kept:
        return Kept(key, list(self._entries(key.folder)))

    def _entries(self, folder: str, *, after: str = "") -> Iterator[Entry]:
        for path, size in self._objects.paths(folder, after=after):
            entry = Entry.of(path, size)
            if entry is not None:
                yield entry

    def _last(self, namespace: str, cluster: str, machine: str, bundle_id: str, *, with_logs: bool = False) -> Kept:
        bundles: dict[BundleKey, Kept] = {}
        for entry in self._entries(folder_of(namespace, cluster, machine)):
            if bundle_id in ("", entry.key.bundle_id) and (not with_logs or isinstance(entry.name, LogsName)):
                bundles.setdefault(entry.key, Kept(entry.key)).entries.append(entry)
        if not bundles:
            what = "log bundle" if with_logs else "report"
            raise ReportNotFound(f"there is no {what} of this machine{' and bundle' if bundle_id else ''}")
        return max(bundles.values(), key=lambda kept: kept.milliseconds)

    def _report(self, kept: Kept) -> reportspb.Report:
        report = report_of(kept)
        for part in report.sources:
            texts = [self._objects.get(entry.path) for entry, _ in kept.events(part.source)]
            events = merged(*(read_events(text or b"", kept.key.bundle_id)[0] for text in texts))
            if events:
                # Two replicas may have written at the same time: together their objects know more than each name.
                newest = reportspb.SourceReport(source=part.source, receive_time=part.receive_time, events=events)
                newest.MergeFrom(_of_summary(summary(events)))
                part.CopyFrom(newest)
        return report

    def _log_parts(self, kept: Kept) -> Iterator[bytes]:
        return self._objects.chunks(kept.logs()[0].path, _CHUNK)

    def _page(self, namespace: str, cluster: str, machine: str, after: str, most: int) -> list[reportspb.Report]:
        """Give a page; no more than a page of machines is in memory, beside the names of all in a folder."""
        if not self._objects.is_ordered and most <= _FEW:
            return list(islice(self._by_folders(namespace, cluster, machine, after), most))
        machines: dict[str, dict[BundleKey, Kept]] = {}
        start = f"{folder_of(namespace)}/{after}{_BEHIND}" if after and self._objects.is_ordered else ""
        for entry in self._entries(folder_of(namespace, cluster, machine), after=start):
            place = entry.key.place
            if place <= after or (machine and entry.key.machine != machine):
                continue
            if place not in machines and len(machines) >= most:
                if self._objects.is_ordered:
                    break
                last = max(machines)
                if place > last:
                    continue
                del machines[last]
            machines.setdefault(place, {}).setdefault(entry.key, Kept(entry.key)).entries.append(entry)
        return [
            report_of(max(machines[place].values(), key=lambda kept: kept.milliseconds)) for place in sorted(machines)
        ]

    def _by_folders(self, namespace: str, cluster: str, machine: str, after: str) -> Iterator[reportspb.Report]:
        """Give reports in the order of their places: a folder has no order, and a page is a small part of it."""
        clusters = [cluster] if cluster else self._objects.folders(folder_of(namespace))
        places = [
            (f"{name}/{other}/", name, other)
            for name in clusters
            for other in ([machine] if machine else self._objects.folders(folder_of(namespace, name)))
            if f"{name}/{other}/" > after
        ]
        for _, name, other in sorted(places):
            with suppress(ReportNotFound):
                yield report_of(self._last(namespace, name, other, ""))


def report_of(kept: Kept) -> reportspb.Report:
    """Give the report of a bundle as far as its names say it."""
    key = kept.key
    machine = reportspb.ReportedMachine(namespace=key.namespace, cluster=key.cluster, name=key.machine)
    report = reportspb.Report(machine=machine, bundle_id=key.bundle_id, receive_time=_time(kept.milliseconds))
    # A source of less weight never takes the place of the other.
    for source in (reportspb.REPORT_SOURCE_SINK, reportspb.REPORT_SOURCE_CONSOLE):
        for _, name in kept.events(source)[:1]:
            part = report.sources.add(source=source, receive_time=_time(name.milliseconds))
            part.MergeFrom(_of_summary(name.summary))
    for entry in kept.logs()[:1]:
        info = reportspb.LogBundleInfo(bytes=entry.bytes, receive_time=_time(entry.name.milliseconds))
        if isinstance(entry.name, LogsName):
            info.reason = entry.name.reason
        report.log_bundle.CopyFrom(info)
    return report


def _of_summary(short: Summary) -> reportspb.SourceReport:
    return reportspb.SourceReport(
        state=short.state, phase=short.phase, step=short.step, exit_code=short.exit_code, reason=short.reason
    )


def _time(milliseconds: int) -> Timestamp:
    return Timestamp(seconds=milliseconds // 1000, nanos=milliseconds % 1000 * 1_000_000)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
