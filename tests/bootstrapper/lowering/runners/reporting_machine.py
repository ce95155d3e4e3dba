"""A machine that reports by HTTP: prepared, waited for and stopped."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from slipway.bootstrapper.assembly.report_items import add_reporting
from slipway.bootstrapper.lowering.runners.linux_file import RUN_PROGRAM
from slipway.contract.content import SecretIndex
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import PREPARE, lowered

ENTRY = ["/bin/sh", RUN_PROGRAM]
UNIT = "/etc/systemd/system/slipway-report.service"
EVENTS_PATH, LOGS_PATH = "/events?signature=s3cret-of-the-address", "/logs?signature=s3cret-of-the-logs"
ON_FAILURE, ALWAYS, NEVER = (
    specpb.REPORTED_LOGS_ON_FAILURE, specpb.REPORTED_LOGS_ALWAYS, specpb.REPORTED_LOGS_NEVER,
)  # fmt: skip


def prepare(
    machine: LinuxMachine,
    address: str,
    *steps: planpb.Step,
    logs: specpb.ReportedLogs.ValueType = ON_FAILURE,
    paths: tuple[str, str] = (EVENTS_PATH, LOGS_PATH),
) -> None:
    """Write what a provisioner writes for a machine that reports; a fake of systemd starts its service."""
    url, logs_url = (secretpb.SecretReference(name="report", key=key) for key in ("url", "logs"))
    sinks = [specpb.ReportSink(put=specpb.PutSink(url=url, logs_url=logs_url))]
    bundle = bundlepb.BootstrapBundle()
    add_reporting(bundle, specpb.Reporting(sinks=sinks, logs=logs))
    (command,) = bundle.commands.pre
    report = planpb.Step(id="report", phase=PREPARE, command=command)
    secrets = [
        secretpb.Secret(name="report", key=key, value=f"{address}{path}\n".encode())
        for key, path in zip(("url", "logs"), paths, strict=True)
    ]
    machine.write(lowered([report, *steps]).files, SecretIndex(secrets))
    machine.path(UNIT).parent.mkdir(parents=True, exist_ok=True)
    starts = f"[ -f {UNIT} ] && SLIPWAY_REPORT=send exec sh /var/lib/slipway/steps/report"
    machine.fake("systemctl", f'case "$*" in *start*) ({starts}) </dev/null >/reporter.log 2>&1 & ;; esac')
    if machine.shell != "busybox":
        machine.fake("sleep", "exec /usr/bin/sleep 0.05")


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something is so.

    Raises:
        AssertionError: it is not in time.
    """
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def stop(machine: LinuxMachine) -> None:
    """End what the machine has left running, in whatever group it is: steps of the agent have their own."""
    while pids := [pid for pid in Path("/proc").glob("[0-9]*") if _root(pid) == machine.root]:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(int(pid.name), signal.SIGKILL)
        time.sleep(0.05)


def _root(process: Path) -> Path | None:
    with suppress(OSError):
        return (process / "root").readlink()
    return None
