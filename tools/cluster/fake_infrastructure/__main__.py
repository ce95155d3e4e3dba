"""python -m tools.cluster.fake_infrastructure --kubeconfig FILE: run the provider until told to end."""

from __future__ import annotations

import argparse
import http.client
import queue
import sys
import threading
from pathlib import Path

from tools.cluster import access
from tools.cluster.client import Client, Object
from tools.cluster.failures import Refused
from tools.cluster.fake_infrastructure import definitions
from tools.cluster.fake_infrastructure.reconciler import CORE, OWNERS, NotYetError, Reconciler

Key = tuple[str, str, str]

_RETRY = 1.0
_WATCH_SECONDS = 300.0


def main() -> None:
    """Watch everything that matters, and reconcile one object after the other."""
    parser = argparse.ArgumentParser(prog="python -m tools.cluster.fake_infrastructure")
    parser.add_argument("--kubeconfig", type=Path, required=True)
    told = parser.parse_args()
    client = Client(access.read(told.kubeconfig.read_bytes()))
    work: queue.Queue[Key] = queue.Queue()
    for kind in (definitions.CLUSTER, *OWNERS):
        _follow(client, definitions.API_VERSION, kind, work)
    for kind in OWNERS.values():
        _follow(client, CORE, kind, work)
    _reconcile_forever(Reconciler(client), work)


def _follow(client: Client, api_version: str, kind: str, work: queue.Queue[Key]) -> None:
    def run() -> None:
        while True:
            try:
                for event, seen in client.watch(api_version, kind, seconds=_WATCH_SECONDS):
                    if event != "DELETED" and (key := _key(seen)):
                        work.put(key)
            except (OSError, http.client.HTTPException, Refused, ValueError) as failure:
                print(f"watch of {kind}: {failure}", file=sys.stderr, flush=True)
                threading.Event().wait(_RETRY)

    threading.Thread(target=run, name=f"watch-{kind}", daemon=True).start()


def _key(seen: Object) -> Key | None:
    """The object of the infrastructure that an event is about."""
    namespace, spec = seen["metadata"]["namespace"], seen.get("spec", {})
    if seen["kind"] not in OWNERS.values():
        return seen["kind"], namespace, seen["metadata"]["name"]
    reference = spec.get("template", {}).get("spec", spec).get("infrastructureRef", {})
    if reference.get("kind") not in OWNERS:
        return None
    return reference["kind"], namespace, reference["name"]


def _reconcile_forever(reconciler: Reconciler, work: queue.Queue[Key]) -> None:
    while True:
        keys = {work.get()}
        while not work.empty():
            keys.add(work.get())
        for key in keys:
            try:
                reconciler.reconcile(*key)
            except (OSError, http.client.HTTPException, Refused, NotYetError) as failure:
                print(f"{'/'.join(key)}: {failure}", file=sys.stderr, flush=True)
                threading.Timer(_RETRY, work.put, (key,)).start()


if __name__ == "__main__":
    main()
