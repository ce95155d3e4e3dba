"""python -m tools.cluster up|down: a management cluster with Cluster API on this machine, for a developer's shell."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from tools.cluster import keeper
from tools.cluster.environment import SITE_NOTE
from tools.cluster.keeper import Kept
from tools.oracles import build, cluster_api
from tools.oracles.failures import EngineError

FOLDER = Path("build") / "cluster"
WORKLOAD = "demo"
_ENGINES = "cluster"
_NODES = ("node-1.34", "node-1.34-k0s")
_WAY_IN = "way-in"
_KUBECTL, _KUBECONFIG, _LOGS = "kubectl", "kubeconfig", "logs"


def main() -> int:
    """Do what the command line says; 2 when it could not be done."""
    parser = argparse.ArgumentParser(prog="python -m tools.cluster", description="Cluster API on loopback.")
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="build what is missing, start it in the background, say how to use it")
    down = commands.add_parser("down", help="end it")
    keep = commands.add_parser("keep", help="hold it in the foreground")
    for command in (up, down, keep):
        command.add_argument("folder", nargs="?", type=Path, default=FOLDER, help=f"where its state is ({FOLDER})")
    for command in (up, keep):
        command.add_argument("--cluster-api", choices=(*cluster_api.MANIFESTS, keeper.NONE), default="1.14")
        command.add_argument("--workload", default=WORKLOAD, help=f"name of a workload cluster ({WORKLOAD})")
        command.add_argument("--slipway", action="store_true", help="run Slipway in it, from these sources")
        command.add_argument("--real-machines", action="store_true", help="boot a real node for each Machine")
    keep.add_argument("--while-used", action="store_true", help="end when no process holds it in use")
    options = parser.parse_args()
    try:
        if options.command == "up":
            return _up(options)
        if options.command == "down":
            print("ended" if keeper.stop(options.folder) else "nothing is running")
            _unlink(options.folder)
            return 0
        keeper.keep(options.folder, while_used=options.while_used, **_wishes(options))
    except EngineError as failure:
        print(failure, file=sys.stderr)
        return 2
    return 0


def _wishes(options: argparse.Namespace) -> dict[str, Any]:
    """What is to be kept; with real machines nobody needs an API server without any."""
    return {
        "cluster_api": options.cluster_api,
        "workload": "" if options.real_machines else options.workload,
        "real_machines": options.real_machines,
        "slipway": options.slipway,
    }


def _up(options: argparse.Namespace) -> int:
    if build.main([_ENGINES, *(_NODES if options.real_machines else [])]):
        return 2
    kept = keeper.read(options.folder)
    if kept is None:
        started = time.monotonic()
        kept = keeper.start(options.folder, **_wishes(options))
        print(f"up after {time.monotonic() - started:.0f} s")
    _link(options.folder, kept)
    print(_usage(options.folder, kept))
    return 0


def _link(folder: Path, kept: Kept) -> None:
    """Leave a ``kubectl`` for this cluster, and the kubeconfig for other programs."""
    environment = kept.environment
    kubectl = folder / _KUBECTL
    command = shlex.join([str(environment.programs / "kubectl"), f"--kubeconfig={environment.kubeconfig}"])
    kubectl.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    kubectl.chmod(0o755)
    if kept.real_machines:
        (folder / _WAY_IN).write_text(environment.way_in["HTTPS_PROXY"] + "\n")
    for name, target in ((_KUBECONFIG, environment.kubeconfig), (_LOGS, environment.logs)):
        link = folder / name
        link.unlink(missing_ok=True)
        link.symlink_to(target)


def _unlink(folder: Path) -> None:
    """Take away what ``_link`` left: a kubectl without its program would stand before any other in a shell's PATH."""
    for name in (_KUBECTL, _KUBECONFIG, _LOGS, _WAY_IN):
        (folder / name).unlink(missing_ok=True)


def _usage(folder: Path, kept: Kept) -> str:
    slipway = ", and Slipway in it" if kept.slipway else ""
    if kept.real_machines:
        site = (kept.environment.directory / SITE_NOTE).read_text(encoding="utf-8")
        where = f"Its machines are real: {site}/NAME/console; {folder}/{_WAY_IN} is the proxy into their network."
    else:
        server, name = kept.workload_administration.server, kept.workload
        where = f"The API server of a workload cluster named {name} is {server}; Secret {name}-ca has its authority."
    return f"""\
Cluster API {kept.cluster_api} is running on {kept.address}{slipway}.

  {folder}/kubectl get clusters,machines     or any kubectl after: export KUBECONFIG={folder}/kubeconfig
  {folder}/logs                              the log of every process
  make cluster-down                               ends it

{where}
"""


if __name__ == "__main__":
    sys.exit(main())
