"""Results of controls as JUnit XML, which every CI system can show."""

from collections.abc import Iterable
from xml.etree import ElementTree as ET  # nosec - it only builds

from slipway.cli.compliance_results import FAIL, MANUAL, MISSING, NOT_APPLICABLE, WAIVED, MachineResults, Result, counts
from slipway.diagnosis.printing import xml_document

_FAILED = (FAIL, MISSING)
_SKIPPED = (WAIVED, MANUAL, NOT_APPLICABLE)


def as_junit(machines: Iterable[MachineResults]) -> bytes:
    """Give a suite for each machine, with a case for each control; one for a machine without evidence.

    That one has an error, which is no failure, with the reason as its type.
    """
    root = ET.Element("testsuites", name="slipway compliance")
    for machine in machines:
        number = counts(machine.results)
        suite = ET.SubElement(
            root, "testsuite", name=machine.name, tests=str(len(machine.results) or 1),
            errors=str(int(bool(machine.absence))),
            failures=str(sum(number[name] for name in _FAILED)),
            skipped=str(sum(number[name] for name in _SKIPPED)),
        )  # fmt: skip
        for result in machine.results:
            _case(suite, result)
        if machine.absence:
            case = ET.SubElement(suite, "testcase", classname="slipway", name="evidence")
            ET.SubElement(case, "error", type=machine.absence.reason, message=machine.absence.message)
    return xml_document(root)


def _case(suite: ET.Element, result: Result) -> None:
    profile, _, id_ = result.control.partition("/")
    case = ET.SubElement(suite, "testcase", classname=profile, name=f"{id_} {result.title}".strip())
    if result.result in _FAILED:
        ET.SubElement(case, "failure", message=result.observed or result.result).text = result.note
    elif result.result in _SKIPPED:
        ET.SubElement(case, "skipped", message=result.note or result.observed)
