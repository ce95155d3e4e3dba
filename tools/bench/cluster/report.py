"""The measured figures as a section of docs/reference/performance.md, beside the aims that they are held against."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tools.bench.cluster.contender import DEFAULT, EQUAL, KUBEADM, UNTHROTTLED
from tools.bench.cluster.slipway import SLIPWAY
from tools.bench.sections import CLUSTER

Row = dict[str, Any]

_COLUMNS = {
    "provider": "provider",
    "limits": "limits",
    "clusters": "clusters",
    "machines": "machines",
    "machines_per_second": "machines per second",
    "p50": "p50",
    "p99": "p99",
    "calls": "calls",
    "writes": "writes",
    "writes_before": "writes before",
    "workload_writes": "token writes",
    "provider_cpu": "provider's CPU",
    "api_server_cpu": "API server's CPU",
    "others_cpu": "CPU of etcd and the workload's API server",
    "rss_mib": "MiB",
}
_MORE_IS_BETTER = frozenset({"machines_per_second"})
_TIMES = 2
_PER_SECOND = 100
_ALONE_SECONDS = 0.3
_JUDGED = tuple(_COLUMNS)[4:]


def section(result: Row) -> str:
    """Give the section, heading first.

    Args:
        result: what the benchmark has written: ``machine``, ``cores``, ``runs``, and ``rows`` of medians by the names
            of Figures.
    """
    rows: Sequence[Row] = result["rows"]
    columns = [[str(row[key]) for key in _COLUMNS] for row in rows]
    return f"""{CLUSTER}

Measured by `python -m tools.bench.cluster --page` on {result["machine"]}: Slipway (registry, controller and one
provisioner) and Cluster API's own kubeadm bootstrap provider, each alone, in a real management cluster. Machines and
configs are there and wait, core is stopped, clusters become ready; the clock stops at the last data Secret. Of the
workload cluster only etcd and the API server run here.
{_runs(result["runs"])}
p50 and p99 are seconds until the Secret of a machine, calls and writes are those of one machine by the API server's
audit log, CPU is in seconds of all machines. `{DEFAULT.name}` are those that each program has by itself, `{EQUAL.name}`
100 calls a second of the management cluster with bursts of 200. "At most" is what a provider would reach that took no
CPU itself: all the cores for the API servers and etcd, which run on the same machine and do for each machine what they
did for Slipway.

{_table(("what", "aim", "measured", "verdict"), list(_aims(rows, result["cores"])))}
{_table(tuple(_COLUMNS.values()), columns)}
{_honestly(rows)}
"""


def _runs(count: int) -> str:
    return "One run." if count == 1 else f"Medians of {count} runs, in turn by each provider first."


def _aims(rows: Sequence[Row], cores: int) -> Iterator[Sequence[str]]:
    most = max(row["machines"] for row in rows)
    for clusters in sorted({row["clusters"] for row in rows if row["machines"] > 1}):
        where = "1 cluster" if clusters == 1 else f"{clusters} clusters"
        ours, theirs = (_of(rows, name, DEFAULT.name, clusters, most) for name in (SLIPWAY.name, KUBEADM.name))
        times = ours["machines_per_second"] / theirs["machines_per_second"]
        what = f"machines per second at default flags, in {where}"
        yield what, f"{_TIMES} times the other's", f"{times:.1f} times", _verdict(well=times >= _TIMES)
        free = _of(rows, SLIPWAY.name, UNTHROTTLED.name, clusters, most)
        speed = free["machines_per_second"]
        fleet_limit = cores * most / (free["api_server_cpu"] + free["others_cpu"])
        what, measured = f"machines per second unthrottled, in {where}", f"{speed:.1f} (at most {fleet_limit:.0f})"
        yield what, f">= {_PER_SECOND}", measured, _verdict(well=speed >= _PER_SECOND)
    alone = next(row["p50"] for row in rows if row["provider"] == SLIPWAY.name and row["machines"] == 1)
    aim, measured = (f"{seconds * 1000:.0f} ms" for seconds in (_ALONE_SECONDS, alone))
    yield "a machine by itself", f"< {aim}", measured, _verdict(well=alone < _ALONE_SECONDS)


def _of(rows: Sequence[Row], provider: str, limits: str, clusters: int, machines: int) -> Row:
    return next(
        row
        for row in rows
        if (row["provider"], row["limits"], row["clusters"], row["machines"]) == (provider, limits, clusters, machines)
    )


def _verdict(*, well: bool) -> str:
    return "met" if well else "not met"


def _honestly(rows: Sequence[Row]) -> str:
    """Say in what the other provider is better, wherever it is."""
    lines = []
    for theirs in (row for row in rows if row["provider"] == KUBEADM.name):
        ours = _of(rows, SLIPWAY.name, theirs["limits"], theirs["clusters"], theirs["machines"])
        better = [_COLUMNS[key] for key in _JUDGED if _is_better(key)(theirs[key], ours[key])]
        if better:
            where = f"{theirs['limits']}, {theirs['clusters']} x {theirs['machines'] // theirs['clusters']}"
            lines.append(f"* {where}: {', '.join(better)}.")
    if not lines:
        return "The kubeadm provider was better in nothing."
    return "\n".join(["The kubeadm provider, written in Go, was better in:", "", *lines])


def _is_better(key: str) -> Callable[[float, float], bool]:
    return (lambda entry, other: entry > other) if key in _MORE_IS_BETTER else (lambda entry, other: entry < other)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
