"""The report: what holds, clause by clause, and what nobody looked at."""

import json
from collections.abc import Collection, Sequence
from typing import Any

import yaml
from google.protobuf.json_format import MessageToDict

from slipway.conformance import profiles
from slipway.conformance.clauses import chapters, clauses
from slipway.conformance.runner import Ending, Result
from slipway.conformance.session import Session
from slipway.conformance.v1alpha1 import report_pb2 as reportpb
from slipway.contract.control_characters import has_controls
from slipway.contract.version import VERSION
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

_STATES = {
    Ending.FAILED: reportpb.FINDING_STATE_FAILED,
    Ending.WARNED: reportpb.FINDING_STATE_WARNED,
    Ending.NOT_RUN: reportpb.FINDING_STATE_NOT_RUN,
    Ending.UNVERIFIED: reportpb.FINDING_STATE_UNVERIFIED,
}

_RENDER = "render"

CORE = frozenset({"EXE-001", "RND-015", "RND-016", "RND-018", "INF-016"})
"""Clauses about what every provisioner's user data must hold."""


def report(session: Session, results: Sequence[Result], *, known: Collection[str] = ()) -> reportpb.Report:
    """Give the report of a run; `known` are the checks that must fail."""
    made = reportpb.Report(
        api_version="conformance.slipway.dev/v1alpha1",
        kind="ConformanceReport",
        suite_version=VERSION,
        contract_version="v1alpha1",
        implementation=reportpb.Implementation(
            name=session.info.name,
            version=session.info.implementation_version,
            documentation_url=session.info.documentation_url,
        ),
        transport="tls" if session.secure else "insecure",
        formats=[_format(session, info) for info in session.info.formats],
        findings=[_finding(one, known) for one in results if one.ending is not Ending.PASSED or one.check.id in known],
        passed=[one.check.id for one in results if one.ending is Ending.PASSED and one.check.id not in known],
    )
    tried = {one.check.chapter for one in results}
    made.chapters.extend(chapter.id for chapter in chapters() if chapter.id in tried)
    if _RENDER in made.chapters:
        made.profiles.extend(profiles.fulfilled(session.info, results))
    states = [one.state for one in made.findings]
    made.summary.passed = len(made.passed)
    made.summary.failed = states.count(reportpb.FINDING_STATE_FAILED)
    made.summary.warned = states.count(reportpb.FINDING_STATE_WARNED)
    made.summary.not_run = states.count(reportpb.FINDING_STATE_NOT_RUN)
    made.summary.unverified = states.count(reportpb.FINDING_STATE_UNVERIFIED)
    made.summary.known_failures = states.count(reportpb.FINDING_STATE_KNOWN_FAILURE)
    made.verdict = _verdict(made, results, gone=bool(session.gone))
    made.conformant = made.verdict == reportpb.VERDICT_CONFORMANT
    return made


def _verdict(made: reportpb.Report, results: Sequence[Result], *, gone: bool) -> reportpb.Verdict.ValueType:
    if any(one.ending is Ending.FAILED for one in results) or (_RENDER in made.chapters and not made.profiles):
        return reportpb.VERDICT_NOT_CONFORMANT
    if gone or any(_open(result) for result in results):
        return reportpb.VERDICT_CONFORMANT_AS_FAR_AS_CHECKED
    return reportpb.VERDICT_CONFORMANT


def _open(result: Result) -> bool:
    """Whether another decoder, or a machine as usual, may show that it does not conform.

    A check that crashes binds whatever its clause demands, so that each check which was not judged is open.
    """
    if result.unjudged:
        return True
    return result.ending is Ending.UNVERIFIED and result.check.clause in CORE


def as_expected(made: reportpb.Report) -> bool:
    """Whether a run ended as its caller said: no MUST broken, or what is known to be broken, and nothing else.

    Of a run of some checks, which has no verdict, nothing may be broken.

    That is for the exit code of a job that shall notice changes. It says nothing about the contract.
    """
    states = [one.state for one in made.findings]
    if {reportpb.FINDING_STATE_FAILED, reportpb.FINDING_STATE_FIXED} & set(states):
        return False
    if made.verdict in {reportpb.VERDICT_CONFORMANT, reportpb.VERDICT_CONFORMANT_AS_FAR_AS_CHECKED}:
        return True
    return made.verdict == reportpb.VERDICT_UNSPECIFIED or reportpb.FINDING_STATE_KNOWN_FAILURE in states


def as_yaml(made: reportpb.Report) -> str:
    """Give the report as YAML in the proto-JSON form, a line for each text."""
    plain: dict[str, Any] = MessageToDict(made)
    text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=1 << 20)
    return yaml.safe_dump(plain, sort_keys=False, width=1 << 20) if has_controls(text) else text


def as_json(made: reportpb.Report) -> str:
    """Give the report as JSON in the proto-JSON form."""
    return json.dumps(MessageToDict(made), indent=2) + "\n"


def _finding(one: Result, known: Collection[str]) -> reportpb.Finding:
    state = _STATES.get(one.ending, reportpb.FINDING_STATE_FIXED)
    if one.check.id in known and one.ending in (Ending.FAILED, Ending.WARNED):
        state = reportpb.FINDING_STATE_KNOWN_FAILURE
    elif one.check.id in known and not one.unjudged:
        # What is not run cannot be shown to fail: the list is for another kind of run.
        state = reportpb.FINDING_STATE_FIXED
    found = one.found or ("it is on the list of known failures, and it passes: remove it from the list",)
    text = " ".join(clauses()[one.check.clause].text.split())
    return reportpb.Finding(check=one.check.id, clause=text, state=state, found=found, unjudged=one.unjudged)


def _format(session: Session, info: provisionerpb.FormatInfo) -> reportpb.FormatReport:
    made = reportpb.FormatReport(format=info.format)
    for feature in sorted(support.id for support in info.features):
        state, why = session.ledger.state(info.format, feature)
        made.features.add(feature=feature, state=state, why=why)
    return made
