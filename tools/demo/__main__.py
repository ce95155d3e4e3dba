"""Run the demo; ends with 1 when something was not as expected."""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.status import Status

from slipway.cli.exit_codes import FAILED, INTERRUPTED
from slipway.cli.output import console
from slipway.cli.processes import PROVISIONERS, LocalServices
from slipway.cli.readiness import NotReadyError, local_connection, wait_until_ready
from slipway.cli.remote import RemoteBackend
from tools.demo.acts import bundle_act, explain_act, reading_act, refusal_act
from tools.demo.failover import failover_act
from tools.demo.findings import ACCOUNT, LOGS, Findings, show_summary, take_away
from tools.demo.machines import machines_act

OUT = Path("out")


async def demo(screen: Console, findings: Findings) -> None:
    """Run all acts; what was observed goes into the findings."""
    with tempfile.TemporaryDirectory(prefix="slipway-demo-") as scratch:
        services = LocalServices(logs=OUT / LOGS, credentials=Path(scratch))
        try:
            await _start(services, screen, findings)
            backend = RemoteBackend(local_connection(services))
            try:
                _act(screen, 2, "every machine by every provisioner")
                await machines_act(backend, screen, findings, OUT)
                _act(screen, 3, "the result of each field, before any machine exists")
                await explain_act(backend, screen, findings)
                _act(screen, 4, "a refusal that names the field")
                await refusal_act(backend, screen, findings)
                _act(screen, 5, "a provisioner is killed and replaced")
                await failover_act(services, backend, screen, findings)
                _act(screen, 6, "the neutral bundle, without its secrets")
                await bundle_act(backend, screen, findings, OUT)
            finally:
                await backend.close()
        finally:
            with screen.status("everything is ending ..."):
                await services.stop()
    _act(screen, 7, "the programs that run on the machines read their user data")
    await reading_act(screen, findings, OUT)


async def _start(services: LocalServices, screen: Console, findings: Findings) -> None:
    _act(screen, 1, "six processes that speak only gRPC")
    with screen.status("registry, bootstrapper and four provisioners are starting ...") as status:
        await services.start()
        seconds = await wait_until_ready(services, progress=lambda ready: _progress(status, ready))
    findings.note("start_seconds", round(seconds, 2))
    for process in services.processes.values():
        screen.print(f"  {process.name.replace('_', '-'):<14}{process.address:<18}pid {process.handle.pid}")
    screen.print(f"All are up, and the provisioners registered themselves, after {seconds:.1f} s.")


def _progress(status: Status, ready: int) -> None:
    status.update(f"{ready} of {len(PROVISIONERS)} provisioners have registered ...")


def _act(screen: Console, number: int, title: str) -> None:
    screen.print()
    screen.rule(f"[bold]{number}. {title}", align="left", style="dim")


def main() -> None:
    """Run, write out/demo.json, and say how it went."""
    screen = console()
    findings = Findings()
    take_away(OUT)
    started = time.perf_counter()
    try:
        asyncio.run(demo(screen, findings))
    except NotReadyError as error:
        findings.expect(False, f"{error}; see {OUT / LOGS}")  # reaching this line is the failure
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        findings.note("seconds", round(time.perf_counter() - started, 1))
        findings.write(OUT / ACCOUNT)
    screen.print()
    screen.rule("[bold]In short", align="left", style="dim")
    show_summary(screen, findings)
    for wrong in findings.wrong:
        screen.print(f"not as expected: {wrong}", style="red")
    if findings.wrong:
        sys.exit(FAILED)
    screen.print(
        f"\n[green]All as expected[/green], in {findings.observed['seconds']} s. User data is in {OUT}/, the account "
        f"in {OUT}/{ACCOUNT}. Now with a template of your own:\n"
        "  .venv/bin/slipway render -f cluster.yaml --set-missing --provisioner all"
    )


if __name__ == "__main__":
    main()
