"""Runs of chosen checks against a bent provisioner, and what a run on a slow machine says of a real one."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from slipway.conformance.catalogue import all_checks
from slipway.conformance.check import Check
from slipway.conformance.opening import opened
from slipway.conformance.options import Options, Patience
from slipway.conformance.report import CORE
from slipway.conformance.run import Wanted, conformance
from slipway.conformance.runner import Result, result
from slipway.conformance.session import Session
from slipway.conformance.v1alpha1 import report_pb2 as reportpb
from tests.services.conformance.bent import Bent, InProcess

QUICK = Patience(start=1.5, refusal=1, end=2, reload=1, back=3, render=2)
"""In one process nothing takes long but what never comes."""

BAD = {reportpb.FINDING_STATE_FAILED, reportpb.FINDING_STATE_WARNED}
CHECKS = {check.id: check for check in all_checks()}
SMOKE = (
    "TRN-001.both-calls", "TRN-002.health", "INF-001.name", "INF-004.advertised", "FEA-002.smallest-bundle",
    "FEA-005.not-computed", "RND-006.sha256", "RND-020.other-family", "ERR-003.unknown-format",
    "LIM-004.generous-limit", "SEC-003.secrets-in-answers", "EXE-001.entry-point", "VER-001.other-major",
)  # fmt: skip
"""Quick checks of every group but REG, which a mutant of another group must not make fail."""


@asynccontextmanager
async def session(bent: Bent | None = None, *, secure: bool = False) -> AsyncIterator[Session]:
    """Open a session with a bent provisioner."""
    options = Options(insecure=not secure, renders=40, patience=QUICK)
    async with opened(options, launcher=InProcess(bent)) as found:
        # What a mutant waits for takes no longer on a slow machine.
        found.heartbeat.slowness = lambda: 1.0
        yield found


async def results(found: Session, ids: Iterable[str]) -> dict[str, Result]:
    """Run checks, one after the other."""
    return {id_: await result(found, CHECKS[id_]) for id_ in ids}


def group(id_: str) -> str:
    """Give the group of a check."""
    check: Check = CHECKS[id_]
    return check.group


async def broken(options: Options, check: str) -> list[str]:
    """Give what a program breaks of one check. Where this machine was too slow to judge, it runs again, up to twice."""
    for _ in range(3):
        made = await conformance(options, wanted=Wanted(only=(check,)))
        found = [finding.check for finding in made.findings if finding.state in BAD]
        if found or not any(finding.unjudged for finding in made.findings):
            break
    return found


def keeps(made: reportpb.Report) -> bool:
    """Whether a report says that the contract is kept, but for what this machine was too slow to judge."""
    if made.verdict != reportpb.VERDICT_CONFORMANT_AS_FAR_AS_CHECKED:
        return made.verdict == reportpb.VERDICT_CONFORMANT
    unverified = [finding for finding in made.findings if finding.state == reportpb.FINDING_STATE_UNVERIFIED]
    unread = any(not finding.unjudged and finding.check.partition(".")[0] in CORE for finding in unverified)
    return any(finding.unjudged for finding in unverified) and not unread


def as_usual(made: reportpb.Report, kept: reportpb.Report) -> reportpb.Report:
    """Give a report with what another one says where this machine was too slow to judge; else it is as it was made."""
    unjudged = {finding.check for finding in made.findings if finding.unjudged}
    if not unjudged:
        return made
    findings = {finding.check: finding for finding in kept.findings if finding.check in unjudged}
    findings.update({finding.check: finding for finding in made.findings if finding.check not in unjudged})
    passed = {*made.passed, *unjudged.intersection(kept.passed)}
    filled = reportpb.Report()
    filled.CopyFrom(made)
    del filled.findings[:], filled.passed[:], filled.formats[:]
    filled.findings.extend(findings[id_] for id_ in CHECKS if id_ in findings)
    filled.passed.extend(id_ for id_ in CHECKS if id_ in passed)
    # What was not judged was not seen in the user data either.
    filled.formats.extend(kept.formats)
    filled.summary.passed += len(passed) - len(made.passed)
    filled.summary.unverified = sum(finding.state == reportpb.FINDING_STATE_UNVERIFIED for finding in filled.findings)
    if made.verdict == reportpb.VERDICT_CONFORMANT_AS_FAR_AS_CHECKED:
        filled.verdict, filled.conformant = kept.verdict, kept.conformant
    return filled
