"""The report as JUnit XML, which every CI system can show."""

from collections.abc import Iterable
from xml.etree import ElementTree as ET  # nosec - it only builds

from slipway.conformance.figures import Load
from slipway.conformance.v1alpha1 import report_pb2 as reportpb
from slipway.diagnosis.printing import xml_document

_FAILURES = {
    reportpb.FINDING_STATE_FAILED: "broken",
    reportpb.FINDING_STATE_FIXED: "a known failure passes",
}
_SKIPPED = {
    reportpb.FINDING_STATE_WARNED: "a SHOULD is broken",
    reportpb.FINDING_STATE_NOT_RUN: "not run",
    reportpb.FINDING_STATE_UNVERIFIED: "unverified",
    reportpb.FINDING_STATE_KNOWN_FAILURE: "known failure",
}


def as_junit(made: reportpb.Report, figures: Iterable[Load] = ()) -> bytes:
    """Give the report as JUnit XML: one suite, one case a check; figures are properties of the suite."""
    failures = sum(one.state in _FAILURES for one in made.findings)
    skipped = sum(one.state in _SKIPPED for one in made.findings)
    suite = ET.Element(
        "testsuite",
        name=f"slipway-conformance {made.implementation.name} {made.implementation.version}",
        tests=str(len(made.passed) + len(made.findings)),
        failures=str(failures),
        errors="0",
        skipped=str(skipped),
    )
    loads = list(figures)
    properties = ET.SubElement(suite, "properties") if loads else suite
    for load in loads:
        ET.SubElement(properties, "property", name=f"load: {load.what}", value=str(load).removeprefix(f"{load.what}: "))
    for check in made.passed:
        _case(suite, check)
    for finding in made.findings:
        case = _case(suite, finding.check)
        tag = "failure" if finding.state in _FAILURES else "skipped"
        words = _FAILURES.get(finding.state) or _SKIPPED[finding.state]
        entry = ET.SubElement(case, tag, message=f"{words}: {finding.clause}")
        entry.text = "\n".join(finding.found)
    return xml_document(suite)


def _case(suite: ET.Element, check: str) -> ET.Element:
    group = check.partition("-")[0]
    return ET.SubElement(suite, "testcase", classname=f"conformance.{group}", name=check)
