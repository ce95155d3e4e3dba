"""python -m tools.cluster.fake_infrastructure --kubeconfig FILE: run the provider until told to end.

With ``--boot NOTE --address ADDRESS`` its machines are real: the folder of their site stands in the file NOTE as soon
as there is one, and the way into their network is at the address.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from tools.cluster import access
from tools.cluster.client import Client, Object
from tools.cluster.failures import Refused
from tools.cluster.fake_infrastructure import definitions, way_in
from tools.cluster.fake_infrastructure.booted import Booted
from tools.cluster.fake_infrastructure.machines import Machines, NotYetError, Pretended
from tools.cluster.fake_infrastructure.reconciler import CORE, OWNERS, Reconciler
from tools.node import site
from tools.oracles.failures import EngineError

Key = tuple[str, str, str]

_RETRY = 1.0
_WATCH_SECONDS = 300.0


def main() -> None:
    """Watch everything that matters, and reconcile one object after the other."""
    parser = argparse.ArgumentParser(prog="python -m tools.cluster.fake_infrastructure")
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--boot", type=Path, metavar="NOTE")
    parser.add_argument("--address")
    options = parser.parse_args()
    client = Client(access.read(options.kubeconfig.read_bytes()))
    # The site must end with its block, which a signal would else leave open.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with contextlib.ExitStack() as until:
        real = until.enter_context(_booted(client, options.boot, options.address)) if options.boot else None
        _run(client, real or Pretended(client))


@contextlib.contextmanager
def _booted(client: Client, note: Path, address: str) -> Iterator[Machines]:
    """Give real machines; they end with the block."""
    with site.opened() as place, way_in.open_into(place, address) as door:
        try:
            beside = note.with_suffix(".new")
            beside.write_text(str(place.folder), encoding="utf-8")
            beside.rename(note)
            yield Booted(client, place)
        finally:
            door.kill()


def _run(client: Client, machines: Machines) -> None:
    work: queue.Queue[Key] = queue.Queue()
    for kind in (definitions.CLUSTER, *OWNERS):
        _follow(client, definitions.API_VERSION, kind, work)
    for kind in OWNERS.values():
        _follow(client, CORE, kind, work)
    _reconcile_forever(Reconciler(client, machines), work)


def _follow(client: Client, api_version: str, kind: str, work: queue.Queue[Key]) -> None:
    def run() -> None:
        while True:
            try:
                for event, seen in client.watch(api_version, kind, seconds=_WATCH_SECONDS):
                    if (event != "DELETED" or kind in OWNERS) and (key := _key(seen)):
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
            except (OSError, http.client.HTTPException, EngineError, NotYetError) as failure:
                print(f"{'/'.join(key)}: {failure}", file=sys.stderr, flush=True)
                threading.Timer(_RETRY, work.put, (key,)).start()


if __name__ == "__main__":
    main()
