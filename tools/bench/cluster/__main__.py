"""Measure bootstrap providers side by side, print tables, and write out/bench-cluster.json.

With ``--page`` the section of docs/reference/performance.md, too.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from slipway.cli.output import console, table
from tools.bench import sections
from tools.bench.cluster import report
from tools.bench.cluster.contender import DEFAULT, EQUAL, UNTHROTTLED, Limits
from tools.bench.cluster.fleet import CORE_FLAGS
from tools.bench.cluster.run import Bench, Figures
from tools.bench.cluster.slipway import CONTENDERS
from tools.bench.process_figures import machine
from tools.cluster import providers
from tools.cluster.management import ManagementCluster, RunningCluster
from tools.cluster.workload import WorkloadCluster

OUT = Path("out/bench-cluster.json")
_CLUSTERS = 10
_RUNS = 3


def main() -> None:
    """Measure every provider alone, in order ABBA; medians of some runs."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench.cluster", description="Bootstrap providers, measured.")
    parser.add_argument("--machines", type=int, default=1000, help="machines of a run (1000)")
    parser.add_argument("--runs", type=int, default=_RUNS, help=f"runs of each, of which the medians count ({_RUNS})")
    parser.add_argument("--page", action="store_true", help=f"write the section of {sections.PAGE}, too")
    arguments = parser.parse_args()
    scenes = [
        (limits, clusters, max(1, arguments.machines // clusters))
        for limits in (DEFAULT, EQUAL, UNTHROTTLED)
        for clusters in (1, _CLUSTERS)
    ]
    # One machine by itself: what a user waits for who adds one.
    rows = _measure([(DEFAULT, 1, 1), *scenes], arguments.runs)
    result = {"machine": machine(), "cores": os.cpu_count() or 1, "runs": arguments.runs, "rows": rows}
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(result, indent=2) + "\n")
    if arguments.page:
        page = sections.PAGE.read_text(encoding="utf-8")
        sections.PAGE.write_text(sections.with_section(page, report.section(result)), encoding="utf-8")
    heads = list(rows[0])
    console().print(table("bootstrap providers", heads, [[str(row[head]) for head in heads] for row in rows]))


def _measure(scenes: list[tuple[Limits, int, int]], runs: int) -> list[dict[str, Any]]:
    by_scene: dict[tuple[int, str], list[Figures]] = {}
    for run in range(runs):
        for number, (limits, clusters, machines) in enumerate(scenes):
            # A cluster for each pair: what earlier fleets left there would be listed and kept by every provider.
            with ManagementCluster("1.14", only=(providers.CORE,), provider_flags=CORE_FLAGS) as cluster:
                bench = Bench(cluster, _workload(cluster))
                for contender in CONTENDERS if run % 2 == 0 else reversed(CONTENDERS):
                    name = f"b{number}-{run}-{CONTENDERS.index(contender)}"
                    figures = bench.run(contender, limits, clusters=clusters, machines=machines, name=name)
                    by_scene.setdefault((number, contender.name), []).append(figures)
                    print(figures, flush=True)
    return [_medians(by_scene[number, entry.name]) for number in range(len(scenes)) for entry in CONTENDERS]


def _workload(cluster: RunningCluster) -> WorkloadCluster:
    """Start the cluster that machines join, without its controllers.

    Elsewhere they have machines of their own. Here they would take a quarter of the measured cores, to sign the
    cluster's information anew with each token.
    """
    workload = cluster.workload_cluster("bench")
    workload.server.controllers.stop()
    return workload


def _medians(runs: list[Figures]) -> dict[str, Any]:
    rows = [asdict(run) for run in runs]
    return {
        key: value if isinstance(value, str | int) else round(median(row[key] for row in rows), 2)
        for key, value in rows[0].items()
    }


if __name__ == "__main__":
    main()
