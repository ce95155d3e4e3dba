"""Run the demo; ends with 1 when something was not as expected. ``down`` ends the cluster of an earlier one."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.console import Console

from slipway.cli.exit_codes import FAILED, INTERRUPTED
from slipway.cli.output import console, table
from slipway.cli.processes import LocalServices
from slipway.cli.readiness import NotReadyError, local_connection, wait_until_ready
from slipway.cli.remote import RemoteBackend
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tools.demo.findings import Findings
from tools.node import site, timeline
from tools.node.demo.cluster import EXAMPLE, EXAMPLE_VERSION, MACHINES, NEIGHBOURS, VERSION, user_data
from tools.node.machine import SENTINEL, Machine
from tools.oracles.failures import EngineError

OUT = Path("out/demo-node.json")
_SENTINEL_SECONDS, _READY_SECONDS, _PAUSE = 180.0, 90.0, 0.3
_RECORD = "/etc/slipway/bundle.json"
Answers = Mapping[str, bootstrappb.GetUserDataResponse]


async def render(screen: Console) -> Answers:
    """Start all services, ask them for three machines, and end them: nothing of them is needed any more."""
    with tempfile.TemporaryDirectory(prefix="slipway-demo-") as scratch:
        services = LocalServices(logs=Path(scratch) / "logs", credentials=Path(scratch) / "credentials")
        try:
            await services.start()
            seconds = await wait_until_ready(services)
            screen.print(f"Registry, bootstrapper and four provisioners are up after {seconds:.1f} s.")
            backend = RemoteBackend(local_connection(services))
            try:
                return await user_data(backend)
            finally:
                await backend.close()
        finally:
            await services.stop()


def boot(place: site.Site, answers: Answers, screen: Console, findings: Findings) -> dict[str, Machine]:
    """Switch all machines on at once, and wait until every node is ready."""
    started = time.monotonic()
    machines = {}
    for planned in MACHINES:
        machine = place.machine(planned.name, neighbours=NEIGHBOURS)
        machine.boot(answers[planned.name].user_data, by=planned.by)
        screen.print(f"{_since(started)}  {machine.name}: on, at {machine.address}; {planned.by} reads its user data")
        machines[machine.name] = machine
    for machine in machines.values():
        machine.wait_sentinel(timeout=_SENTINEL_SECONDS)
        screen.print(f"{_since(started)}  {machine.name}: wrote its sentinel")
    first = next(iter(machines.values()))
    ready = _wait(lambda: _ready(first) == len(MACHINES), _READY_SECONDS)
    screen.print(f"{_since(started)}  {_ready(first)} of {len(MACHINES)} nodes are Ready")
    findings.expect(ready, f"only {_ready(first)} nodes became Ready")
    findings.note("ready_seconds", round(time.monotonic() - started, 1))
    return machines


def show(machines: Mapping[str, Machine], answers: Answers, screen: Console, findings: Findings) -> None:
    """Show the nodes, what each machine's record says, and when what happened."""
    first = next(iter(machines.values()))
    nodes = first.run(["kubectl", "get", "nodes", "-o", "wide"])
    screen.print(f"\n$ kubectl get nodes -o wide\n{nodes.output}", highlight=False, soft_wrap=True)
    rows = []
    for name, machine in machines.items():
        record = json.loads(machine.run(["cat", _RECORD]).output or "{}")
        failed = machine.failures()
        steps = machine.run(["sh", "-c", "ls /var/lib/slipway/state/*"]).output.split()
        size = len(answers[name].user_data)
        made_by = f"{record.get('provisioner')}, {record.get('engine')}"
        rows.append([name, record.get("id", "-"), made_by, f"{size} bytes", str(len(steps)), str(len(failed))])
        findings.expect(bool(record.get("id")), f"{name} has no record of who made its user data")
        findings.expect(not failed, f"{name} has records of failed steps")
        findings.expect(machine.exists(SENTINEL), f"{name} has no sentinel")
    heads = ["machine", "run", "made by", "user data", "steps done", "failed"]
    screen.print(table("what each machine says", heads, rows))
    moments = {name: timeline.read(machine) for name, machine in machines.items()}
    noted = {name: {entry.name: round(entry.seconds, 2) for entry in many} for name, many in moments.items()}
    findings.note("timeline", noted)
    names = dict.fromkeys(moment.name for many in moments.values() for moment in many)
    held = {name: {moment.name: f"{moment.seconds:.1f}" for moment in many} for name, many in moments.items()}
    lines = [[what, *(held[name].get(what, "-") for name in machines)] for what in names]
    screen.print(table("seconds since the machine was switched on", ["", *machines], lines))


def main() -> None:
    """Run, or end what an earlier run left on purpose."""
    screen = console()
    if site.end_standing():
        screen.print("The machines of the earlier demo are switched off, and nothing of them is left.")
    if sys.argv[1:] == ["down"]:
        return
    findings = Findings()
    started = time.monotonic()
    try:
        screen.print(f"{EXAMPLE.name}, with Kubernetes {VERSION} in place of {EXAMPLE_VERSION}: that is built here.")
        answers = asyncio.run(render(screen))
        with site.opened() as place:
            machines = boot(place, answers, screen, findings)
            show(machines, answers, screen, findings)
            if not findings.wrong:
                site.keep_standing(place)
    except (EngineError, NotReadyError) as error:
        findings.expect(False, str(error))  # reaching this line is the failure
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        findings.note("seconds", round(time.monotonic() - started, 1))
        findings.write(OUT)
    for wrong in findings.wrong:
        screen.print(f"not as expected: {wrong}", style="red")
    if findings.wrong:
        sys.exit(FAILED)
    screen.print(
        f"\n[green]All as expected[/green], in {findings.observed['seconds']} s. The machines go on running:\n"
        "  .venv/bin/python -m tools.node enter harbour-cp-0                        # a shell\n"
        "  .venv/bin/python -m tools.node enter harbour-cp-0 kubectl get pods -A\n"
        "  .venv/bin/python -m tools.node serial harbour-worker-2\n"
        "  make demo-node-down                                                      # ends them"
    )


def _since(started: float) -> str:
    return f"{time.monotonic() - started:6.1f} s"


def _ready(machine: Machine) -> int:
    return machine.run(["kubectl", "get", "nodes", "--no-headers"]).output.count(" Ready ")


def _wait(holds: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE)
    return True


if __name__ == "__main__":
    main()
