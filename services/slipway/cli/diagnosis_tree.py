"""A diagnosis for programs, as `slipway diagnose -o json` prints it."""

from collections.abc import Sequence
from typing import Any

from slipway.diagnosis.diagnosis import Diagnosis, Finding
from slipway.diagnosis.log_files import Log


def diagnosis_tree(logs: Sequence[Log], diagnosis: Diagnosis) -> dict[str, Any]:
    """Give it as plain values."""
    return {
        "outcome": diagnosis.outcome.value,
        "logs": len(logs),
        "findings": [_finding(finding) for finding in diagnosis.findings],
        "candidates": [_finding(candidate) for candidate in diagnosis.candidates],
        "suspects": [
            {"source": suspect.source, "line": suspect.line, "text": suspect.text} for suspect in diagnosis.suspects
        ],
    }


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
