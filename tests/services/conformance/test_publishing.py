"""What is shown of a report elsewhere says no more than the report does."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from slipway.conformance.publishing import as_badge, schema
from slipway.conformance.v1alpha1 import report_pb2 as reportpb

KEPT = sorted((Path(__file__).resolve().parents[3] / "docs" / "conformance").glob("*.yaml"))
ALL = ["render", "process", "registration"]


def problems(value: Any, rule: dict[str, Any], where: str = "report") -> list[str]:
    """Hold a value against the words of JSON schema that the schema uses."""
    if "enum" in rule:
        return [] if value in rule["enum"] else [where]
    kinds: dict[str, type] = {"string": str, "boolean": bool, "integer": int, "array": list, "object": dict}
    if not isinstance(value, kinds[rule["type"]]):
        return [where]
    if isinstance(value, list):
        return [
            text for index, entry in enumerate(value) for text in problems(entry, rule["items"], f"{where}[{index}]")
        ]
    if isinstance(value, dict):
        unknown = [f"{where}.{key}" for key in value if key not in rule["properties"]]
        known = [(key, entry) for key, entry in value.items() if key in rule["properties"]]
        return unknown + [
            text for key, entry in known for text in problems(entry, rule["properties"][key], f"{where}.{key}")
        ]
    return []


@pytest.mark.parametrize("path", KEPT, ids=[path.stem for path in KEPT])
def test_a_kept_report_is_as_the_schema_says(path: Path) -> None:
    """All reports that are published here."""
    assert problems(yaml.safe_load(path.read_text(encoding="utf-8")), schema()) == []


@pytest.mark.parametrize(
    ("report", "where"),
    [
        ({"kind": 1}, "report.kind"),
        ({"unheard": ""}, "report.unheard"),
        ({"verdict": "FINE"}, "report.verdict"),
        ({"findings": [{"state": "FINDING_STATE_FAILED"}, {"found": [1]}]}, "report.findings[1].found[0]"),
    ],
)
def test_another_document_is_not(report: dict[str, Any], where: str) -> None:
    """A wrong type, an unknown key, and an unknown word."""
    assert problems(report, schema()) == [where]


@pytest.mark.parametrize(
    ("verdict", "chapters", "message", "colour"),
    [
        (reportpb.VERDICT_CONFORMANT, ALL, "conformant (PLAN)", "brightgreen"),
        (reportpb.VERDICT_CONFORMANT, ["render"], "conformant (PLAN, Render)", "brightgreen"),
        (reportpb.VERDICT_CONFORMANT_AS_FAR_AS_CHECKED, ALL, "conformant as far as checked (PLAN)", "yellowgreen"),
        (reportpb.VERDICT_NOT_CONFORMANT, ALL, "not conformant", "red"),
        (reportpb.VERDICT_UNSPECIFIED, [], "not all checks were made", "lightgrey"),
    ],
)
def test_a_badge_says_what_was_tried(verdict: Any, chapters: list[str], message: str, colour: str) -> None:
    """A chapter is no whole contract, and some checks are no verdict."""
    profiles = ["PLAN"] if "conformant (" in message or "checked (" in message else []
    report = reportpb.Report(contract_version="v1alpha1", verdict=verdict, chapters=chapters, profiles=profiles)
    badge = json.loads(as_badge(report))
    assert badge == {"schemaVersion": 1, "label": "slipway v1alpha1", "message": message, "color": colour}
