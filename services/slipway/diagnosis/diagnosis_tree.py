"""A diagnosis for programs, as `slipway diagnose -o json` prints it."""

from collections.abc import Sequence
from typing import Any

from google.protobuf import json_format

from slipway.diagnosis.bootstrap_events import Event
from slipway.diagnosis.diagnosis import Diagnosis, Finding
from slipway.diagnosis.log_files import Log
from slipway.diagnosis.scrubbing import scrubbed
from slipway.diagnosis.timeline import Timeline


def diagnosis_tree(logs: Sequence[Log], diagnosis: Diagnosis, bootstraps: Sequence[Timeline]) -> dict[str, Any]:
    """Give it as plain values."""
    return {
        "outcome": diagnosis.outcome.value,
        "logs": len(logs),
        "findings": [_finding(finding) for finding in diagnosis.findings],
        "candidates": [_finding(candidate) for candidate in diagnosis.candidates],
        "suspects": [
            {"source": suspect.source, "line": suspect.line, "text": suspect.text} for suspect in diagnosis.suspects
        ],
        "bootstraps": [_bootstrap(timeline) for timeline in bootstraps],
    }


def _bootstrap(timeline: Timeline) -> dict[str, Any]:
    return {
        "bundleId": timeline.bundle_id,
        "hostname": timeline.hostname,
        "progress": timeline.progress.value,
        "failing": _event(timeline.failing) if timeline.failing else None,
        "events": [_event(event) for event in timeline.events],
    }


def _event(event: Event) -> dict[str, Any]:
    return {**json_format.MessageToDict(event.message), "source": scrubbed(event.source), "line": event.line}


def _finding(finding: Finding) -> dict[str, Any]:
    rule = finding.rule
    return {
        "reason": rule.reason,
        "rule": rule.id,
        "engine": rule.scope.engine,
        "phase": rule.scope.phase,
        "source": finding.source,
        "line": finding.line,
        "count": finding.count,
        "evidence": finding.evidence,
        "explanation": rule.explanation,
        "remedy": rule.remedy,
        "docs": rule.docs,
    }
