"""What `slipway status` shows without a server of reports: files of a machine, or conditions of its config."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from slipway.diagnosis.bootstrap_events import events_of
from slipway.diagnosis.log_files import LARGEST, LogError, logs_of
from slipway.diagnosis.timeline import timelines
from slipway.reports.summary import summary
from slipway.v1alpha1 import report_service_pb2 as reportspb

_STATES = {"True": "complete", "False": "failed"}
_CONDITION = "BootstrapSucceeded"
_CLUSTER = "cluster.x-k8s.io/cluster-name"


def reports_of_files(paths: Sequence[Path]) -> list[reportspb.Report]:
    """Give a report for each bundle that has events in files: of events, of a console, or log bundles.

    The machine is the host name of the events, and the time that of the last one.

    Raises:
        click.ClickException: a file cannot be read, or holds no logs.
    """
    try:
        logs = [log for path in paths for log in logs_of(path.name, _content(path))]
    except LogError as error:
        raise click.ClickException(str(error)) from None
    reports = []
    for timeline in timelines(events_of(logs)):
        events = [event.message for event in timeline.events]
        short = summary(events)
        report = reportspb.Report(bundle_id=timeline.bundle_id, receive_time=events[-1].time)
        report.machine.name = timeline.hostname
        report.sources.add(
            state=short.state, phase=short.phase, step=short.step, exit_code=short.exit_code, reason=short.reason,
            receive_time=events[-1].time, events=events,
        )  # fmt: skip
        reports.append(report)
    return reports


@dataclass(frozen=True, slots=True)
class Bootstrapped:
    """The condition BootstrapSucceeded of a config: the fields are those of the command's JSON."""

    namespace: str
    cluster: str
    machine: str
    bundle_id: str
    state: str
    reason: str
    message: str
    time: datetime | None

    @classmethod
    def of(cls, config: dict[str, Any]) -> "Bootstrapped | None":
        """Read a SlipwayConfig; None where no Machine owns it."""
        metadata, status = config["metadata"], config.get("status") or {}
        owners = metadata.get("ownerReferences") or ()
        machine = next((owner["name"] for owner in owners if owner.get("kind") == "Machine"), None)
        if machine is None:
            return None
        conditions = status.get("conditions") or ()
        condition: dict[str, str] = next((each for each in conditions if each.get("type") == _CONDITION), {})
        time = condition.get("lastTransitionTime")
        return cls(
            namespace=metadata["namespace"],
            cluster=(metadata.get("labels") or {}).get(_CLUSTER, ""),
            machine=machine,
            bundle_id=status.get("bundleId", ""),
            state=_STATES.get(condition.get("status", ""), "unfinished") if condition else "",
            reason=condition.get("reason", ""),
            message=condition.get("message", ""),
            time=datetime.fromisoformat(time) if time else None,
        )


async def bootstraps(kubeconfig: Path, namespace: str, cluster: str) -> list[Bootstrapped]:
    """Give the conditions of the SlipwayConfigs of Machines in a namespace, by cluster and name.

    Raises:
        click.UsageError: the file is no usable kubeconfig.
        ConnectionError: the management cluster does not answer, or refuses.
    """
    from slipway.kubernetes_api.api import Api  # noqa: PLC0415  # of the Kubernetes client, which takes a second
    from slipway.kubernetes_api.connection import Connection, KubeconfigUnusable  # noqa: PLC0415  # of the Kubernetes client
    from slipway.kubernetes_api.failures import ApiFailure  # noqa: PLC0415  # of the Kubernetes client
    from slipway.kubernetes_api.resources import SLIPWAY_CONFIGS  # noqa: PLC0415  # of the Kubernetes client

    try:
        connection = await Connection.by_kubeconfig(kubeconfig)
    except KubeconfigUnusable as error:
        raise click.UsageError(f"--kubeconfig: {error}") from None
    try:
        configs, _ = await Api(connection).list(SLIPWAY_CONFIGS, namespace)
    except ApiFailure as error:
        raise ConnectionError(f"the management cluster: {error}") from None
    finally:
        await connection.close()
    rows = [row for row in map(Bootstrapped.of, configs) if row is not None and cluster in ("", row.cluster)]
    return sorted(rows, key=lambda row: (row.cluster, row.machine))


def _content(path: Path) -> bytes:
    """Give a file's bytes, one more than is allowed at most: then it is refused."""
    try:
        with click.open_file(str(path), "rb") as stream:
            content: bytes = stream.read(LARGEST + 1)
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror or type(error).__name__}") from None
    return content
