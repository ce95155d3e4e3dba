"""How bootstraps ended is counted once for each bundle and state, whatever is reported how often and by whom."""

from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from slipway.reports.objects import Objects
from slipway.reports.outcomes import LONGEST_SECONDS, Outcomes, OutcomesCollector
from slipway.reports.store import ReportStore
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.reports.made import BEGUN, COMPLETE, FAILED, KEY, Clock, event, file_of

SINK, CONSOLE = reportspb.REPORT_SOURCE_SINK, reportspb.REPORT_SOURCE_CONSOLE


def store_with(folder: Path, outcomes: Outcomes) -> ReportStore:
    """Give a store that counts."""
    return ReportStore(Objects.of(f"file://{folder}"), Clock(), outcomes)


async def test_an_end_counts_once(tmp_path: Path) -> None:
    """Neither the beginning, nor the same again, nor what the console shows of it; another bundle does."""
    outcomes = Outcomes()
    store = store_with(tmp_path, outcomes)
    for events in (BEGUN, FAILED, FAILED, FAILED + file_of(event(5, "STARTED", "20-kubeadm"))):
        await store.add_events(KEY, SINK, events)
    await store.add_events(KEY, CONSOLE, FAILED)
    assert outcomes.results == {("failed", "CommandFailed"): 1}
    await store.add_events(KEY, SINK, COMPLETE)
    assert outcomes.results == {("failed", "CommandFailed"): 1, ("complete", ""): 1}
    other = replace(KEY, bundle_id="f" * 16)
    await store.add_events(other, SINK, COMPLETE.replace(KEY.bundle_id.encode(), other.bundle_id.encode()))
    assert outcomes.results["complete", ""] == 2
    assert outcomes.seconds == {"bootstrap": 4.0}


@pytest.mark.parametrize(("reason", "counted"), [("CommandTimedOut", "CommandTimedOut"), ("Forged1", "Other")])
async def test_a_machine_makes_no_counter(tmp_path: Path, reason: str, counted: str) -> None:
    """A reason that no executor has is counted with all others: no machine adds to what Prometheus keeps."""
    outcomes = Outcomes()
    await store_with(tmp_path, outcomes).add_events(
        KEY, SINK, file_of(event(1, "FAILED", "10-x", exitCode=1, reason=reason))
    )
    assert outcomes.results == {("failed", counted): 1}


def test_the_clock_of_a_machine_spoils_no_sum() -> None:
    """A phase of a year counts as the longest, and one without end not at all."""
    outcomes = Outcomes()
    outcomes.count(reportspb.REPORT_STATE_COMPLETE, "", before=(), phases=lambda: {"bootstrap": 3e7})
    outcomes.count(reportspb.REPORT_STATE_UNFINISHED, "", before=(), phases=lambda: {"bootstrap": 1.0})
    outcomes.count(reportspb.REPORT_STATE_COMPLETE, "", before=(), phases=lambda: {"prepare": 4.0})
    registry = CollectorRegistry()
    registry.register(OutcomesCollector(outcomes))
    text = generate_latest(registry).decode()
    for line in (
        f'slipway_reports_phase_seconds_sum{{phase="bootstrap"}} {float(LONGEST_SECONDS)}',
        'slipway_reports_phase_seconds_bucket{le="3600.0",phase="bootstrap"} 0.0',
        'slipway_reports_phase_seconds_bucket{le="+Inf",phase="bootstrap"} 1.0',
        'slipway_reports_phase_seconds_bucket{le="2.0",phase="prepare"} 0.0',
        'slipway_reports_phase_seconds_bucket{le="5.0",phase="prepare"} 1.0',
        'slipway_reports_bootstraps_total{reason="",state="complete"} 2.0',
    ):
        assert line in text.splitlines()
