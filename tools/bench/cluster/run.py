"""One run of one provider: the clock starts when clusters become ready and stops at the last data Secret."""

from __future__ import annotations

import datetime as dt
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tools.bench.cluster.contender import Contender, Limits
from tools.bench.cluster.fleet import Fleet
from tools.bench.process_figures import cpu_seconds, rss_mib
from tools.cluster import providers
from tools.cluster.audit import Call
from tools.cluster.management import RunningCluster
from tools.cluster.processes import Process
from tools.cluster.workload import WorkloadCluster
from tools.oracles.failures import EngineTimeout

_PATIENCE = 900.0
_INTERVAL = 0.1
_SETTLED = 3.0
_CREATED = 201
_LEASES = "leases"


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run came to; seconds since the clusters became ready, calls and writes of the provider per machine.

    ``writes_before`` are those that it made while its machines waited. Memory is that of all its processes, in MiB.
    ``others_cpu`` is the time of what serves every provider beside the API server: etcd, and the workload's API server.
    """

    provider: str
    limits: str
    clusters: int
    machines: int
    seconds: float
    machines_per_second: float
    p50: float
    p99: float
    calls: float
    writes: float
    writes_before: float
    workload_writes: float
    provider_cpu: float
    api_server_cpu: float
    others_cpu: float
    rss_mib: float


@dataclass(frozen=True, slots=True)
class Restart:
    """What a restart beside finished machines came to.

    ``seconds`` are those from the start of its processes to its last call that is not its leader's; calls, writes, CPU
    time in seconds and memory in MiB are those of the whole restart.
    """

    provider: str
    machines: int
    seconds: float
    calls: int
    writes: int
    provider_cpu: float
    rss_mib: float


@dataclass(frozen=True, slots=True)
class Bench:
    """The environment in which the runs happen, one after the other."""

    cluster: RunningCluster
    workload: WorkloadCluster

    def run(self, contender: Contender, limits: Limits, *, clusters: int, machines: int, name: str) -> Figures:
        """Create a fleet, make it ready with only the provider running, and take the figures.

        Raises:
            EngineTimeout: not every machine got its Secret in 15 minutes.
        """
        fleet = Fleet(self.cluster, self.workload, name, clusters, machines, contender.config)
        processes = contender.processes(self.cluster, limits, name)
        before = self.cluster.audit.position
        core = self.cluster.providers[providers.CORE]
        try:
            for process in processes:
                process.start()
            core.start()
            fleet.create()
            self._wait_quiet(contender, before)
            core.stop()
            time.sleep(_SETTLED)
            return self._measure(contender, limits, fleet, processes, before)
        finally:
            for process in processes:
                process.stop()

    def restart(self, contender: Contender, limits: Limits, *, machines: int, name: str) -> Restart:
        """Start a provider anew beside the machines of an earlier run, all of which have their data.

        Raises:
            EngineTimeout: it did not come to rest in 15 minutes.
        """
        processes = contender.processes(self.cluster, limits, name)
        before, start = self.cluster.audit.position, dt.datetime.now(dt.UTC)
        try:
            for process in processes:
                process.start()
            self._wait_quiet(contender, before)
            calls = self._calls(contender, before)
            return Restart(
                provider=contender.name,
                machines=machines,
                seconds=round(max(_seconds(call, start) for call in calls), 1),
                calls=len(calls),
                writes=sum(call.is_write for call in calls),
                provider_cpu=round(_cpu(process.pid for process in processes), 2),
                rss_mib=round(sum(rss_mib(process.pid) for process in processes), 1),
            )
        finally:
            for process in processes:
                process.stop()

    def _wait_quiet(self, contender: Contender, position: int) -> None:
        """Wait until a provider has told its machines that they wait: it asks for nothing but its lease any more."""
        end = time.monotonic() + _PATIENCE
        quiet = end
        while time.monotonic() < end:
            calls, position = self.cluster.audit.read_from(position)
            now = time.monotonic()
            if any(call.user == contender.user and call.resource != _LEASES for call in calls):
                quiet = now + _SETTLED
            elif now >= quiet:
                return
            time.sleep(_INTERVAL)
        raise EngineTimeout(f"{contender.name} did not come to rest in {_PATIENCE:.0f} s")

    def _measure(
        self, contender: Contender, limits: Limits, fleet: Fleet, processes: Sequence[Process], before: int
    ) -> Figures:
        api_server = self.cluster.server.api_server.pid
        position, workload = self.cluster.audit.position, self.workload.administration.audit.position
        others = [
            entry.pid for entry in self.cluster.supervisor.running if entry not in processes and entry.pid != api_server
        ]
        used, served, besides = _cpu(process.pid for process in processes), cpu_seconds(api_server), _cpu(others)
        start = dt.datetime.now(dt.UTC)
        fleet.make_ready()
        done = self._wait(fleet, position)
        time.sleep(_SETTLED)  # For the writes that come after a Secret.
        used = _cpu(process.pid for process in processes) - used
        served = cpu_seconds(api_server) - served
        besides = _cpu(others) - besides
        took = sorted(_seconds(call, start) for call in done)
        total = len(fleet.names)
        later = self._calls(contender, position)
        earlier = [call for call in self._calls(contender, before) if call.is_write]
        inside = self.workload.administration.audit.calls(since=workload)
        writes = sum(entry.is_write for entry in later)
        return Figures(
            provider=contender.name,
            limits=limits.name,
            clusters=fleet.clusters,
            machines=total,
            seconds=round(took[-1], 2),
            machines_per_second=round(total / took[-1], 1),
            p50=round(statistics.median(took), 2),
            p99=round(took[min(total - 1, round(0.99 * total))], 2),
            calls=round(len(later) / total, 2),
            writes=round(writes / total, 2),
            writes_before=round((len(earlier) - writes) / total, 2),
            workload_writes=round(sum(entry.is_write and entry.resource == "secrets" for entry in inside) / total, 2),
            provider_cpu=round(used, 2),
            api_server_cpu=round(served, 2),
            others_cpu=round(besides, 2),
            rss_mib=round(sum(rss_mib(process.pid) for process in processes), 1),
        )

    def _calls(self, contender: Contender, since: int) -> list[Call]:
        """Give the calls of a provider, but for those of its leader, which come by time and not by machine."""
        return [call for call in self.cluster.audit.calls(since=since, user=contender.user) if call.resource != _LEASES]

    def _wait(self, fleet: Fleet, position: int) -> list[Call]:
        wanted, made, end = set(fleet.names), dict[str, Call](), time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            # Each line is read once: who measures takes from the same two cores.
            calls, position = self.cluster.audit.read_from(position)
            made.update(
                {call.name: call for call in calls if _makes_secret(call) and call.namespace == fleet.namespace}
            )
            if wanted <= made.keys():
                return [made[name] for name in wanted]
            time.sleep(_INTERVAL)
        raise EngineTimeout(f"not every machine of {fleet.namespace} got its Secret in {_PATIENCE:.0f} s")


def _seconds(call: Call, start: dt.datetime) -> float:
    return (dt.datetime.fromisoformat(call.at) - start).total_seconds()


def _cpu(pids: Iterable[int]) -> float:
    return sum(cpu_seconds(pid) for pid in pids)


def _makes_secret(call: Call) -> bool:
    return (call.resource, call.verb, call.status) == ("secrets", "create", _CREATED)
