"""Measure one run of very many machines, and a restart beside them, and write out/bench-many.json.

With ``--page`` the section of docs/reference/performance.md, too.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tools.bench import sections
from tools.bench.cluster.contender import UNTHROTTLED
from tools.bench.cluster.fleet import CORE_FLAGS
from tools.bench.cluster.run import Bench
from tools.bench.cluster.slipway import SLIPWAY
from tools.bench.process_figures import machine
from tools.cluster import providers
from tools.cluster.management import ManagementCluster

OUT = Path("out/bench-many.json")
_MACHINES = 10_000
_MOST_MIB = 300
_MOST_SECONDS = 30


def main() -> None:
    """Measure Slipway alone: all machines at once, then its processes anew."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench.cluster.many", description="Very many machines.")
    parser.add_argument("--machines", type=int, default=_MACHINES, help=f"machines of the run ({_MACHINES})")
    parser.add_argument("--page", action="store_true", help=f"write the section of {sections.PAGE}, too")
    arguments = parser.parse_args()
    result = {"machine": machine(), **_measure(arguments.machines)}
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(result, indent=2) + "\n")
    if arguments.page:
        page = sections.PAGE.read_text(encoding="utf-8")
        sections.PAGE.write_text(sections.with_section(page, section(result)), encoding="utf-8")
    print(section(result))


def _measure(machines: int) -> dict[str, Any]:
    with ManagementCluster("1.14", only=(providers.CORE,), provider_flags=CORE_FLAGS) as cluster:
        workload = cluster.workload_cluster("bench")
        workload.server.controllers.stop()
        bench = Bench(cluster, workload)
        run = bench.run(SLIPWAY, UNTHROTTLED, clusters=1, machines=machines, name="many")
        print(run, flush=True)
        restart = bench.restart(SLIPWAY, UNTHROTTLED, machines=machines, name="again")
    return {"run": asdict(run), "restart": asdict(restart)}


def section(result: dict[str, Any]) -> str:
    """Give the section, heading first.

    Args:
        result: what the benchmark has written: ``machine``, and the fields of Figures in ``run`` and of Restart in
            ``restart``.
    """
    run, restart = result["run"], result["restart"]
    restarted = f"{restart['seconds']} s, {restart['writes']} writes"
    rows = [
        ("machines per second", "", f"{run['machines_per_second']}", ""),
        ("CPU of the provider per machine", "", _each(run["provider_cpu"], run), ""),
        ("CPU of the API server per machine", "", _each(run["api_server_cpu"], run), ""),
        ("memory after the run", *_memory(run["rss_mib"])),
        (
            "last call after a restart",
            f"<= {_MOST_SECONDS} s, no writes",
            restarted,
            _verdict(well=restart["seconds"] <= _MOST_SECONDS and not restart["writes"]),
        ),
        ("memory after the restart", *_memory(restart["rss_mib"])),
    ]
    lines = [("what", "aim", "measured", "verdict"), ("---",) * 4, *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"""{sections.MANY}

Measured by `python -m tools.bench.cluster.many --page` on {result["machine"]}: {run["machines"]} machines of one
cluster become ready at once, with registry, controller and one provisioner, unthrottled. Then these are started anew
beside the same machines, all of which have their data. Memory is that of the three processes together.

{table}
"""


def _each(seconds: float, run: dict[str, Any]) -> str:
    return f"{seconds / run['machines'] * 1000:.1f} ms"


def _memory(mib: float) -> tuple[str, str, str]:
    return f"< {_MOST_MIB} MiB", f"{mib} MiB", _verdict(well=mib < _MOST_MIB)


def _verdict(*, well: bool) -> str:
    return "met" if well else "not met"


if __name__ == "__main__":
    main()
