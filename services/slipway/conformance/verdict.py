"""The report in words, for a person at a terminal."""

from collections.abc import Iterator

from slipway.conformance.clauses import chapters
from slipway.conformance.report import CORE, as_expected
from slipway.conformance.runner import Result
from slipway.conformance.v1alpha1 import report_pb2 as reportpb

_ORDER = (
    (reportpb.FINDING_STATE_FAILED, "FAILED"),
    (reportpb.FINDING_STATE_FIXED, "KNOWN FAILURE THAT PASSES"),
    (reportpb.FINDING_STATE_WARNED, "WARNED"),
    (reportpb.FINDING_STATE_UNVERIFIED, "UNVERIFIED"),
    (reportpb.FINDING_STATE_KNOWN_FAILURE, "KNOWN FAILURE"),
    (reportpb.FINDING_STATE_NOT_RUN, "NOT RUN"),
)
_FEATURES = (
    (reportpb.FEATURE_STATE_VERIFIED, "verified"),
    (reportpb.FEATURE_STATE_UNVERIFIED, "unverified"),
    (reportpb.FEATURE_STATE_FAILED, "failed"),
    (reportpb.FEATURE_STATE_NOT_TRIED, "not tried"),
)


def progress(one: Result, number: int, of: int) -> str:
    """Give the line of progress after a check."""
    found = f": {one.found[0]}" if one.found else ""
    return f"[{number:3}/{of}] {one.check.id}: {one.ending}{found}"


def as_text(made: reportpb.Report) -> str:
    """Give the whole verdict; of a run of some checks there is none."""
    return "\n".join([*_lines(made), *_verdict(made)])


def _lines(made: reportpb.Report) -> Iterator[str]:
    for state, word in _ORDER:
        for finding in made.findings:
            if finding.state == state:
                yield f"{word} {finding.check}: {finding.clause}"
                yield from (f"    {one}" for one in finding.found)
    for report in made.formats:
        states = [one.state for one in report.features]
        counts = ", ".join(f"{states.count(state)} {word}" for state, word in _FEATURES)
        yield f"{report.format}: {len(states)} features declared, {counts}"
    told = made.summary
    yield (
        f"{made.implementation.name} {made.implementation.version} over {made.transport}: {told.passed} passed, "
        f"{told.failed} failed, {told.warned} warned, {told.unverified} unverified, {told.not_run} not run"
        + (f", {told.known_failures} known failures" if told.known_failures else "")
    )


def _verdict(made: reportpb.Report) -> Iterator[str]:
    if made.verdict == reportpb.VERDICT_UNSPECIFIED and not made.summary.failed:
        yield "These were some checks of many: only a run of all of them shows whether it keeps the contract."
        return
    profiles = f" (profile {', '.join(made.profiles)})" if made.profiles else ""
    what = f"{_chapters(made)}the contract {made.contract_version}{profiles}"
    if made.verdict == reportpb.VERDICT_CONFORMANT_AS_FAR_AS_CHECKED:
        yield f"It keeps {what} as far as it could be checked."
        yield from _causes(made)
        return
    word = "keeps" if made.conformant else "does not keep"
    yield f"It {word} {what}."
    if not made.conformant and as_expected(made):
        yield "It breaks what it is known to break, and nothing else."


def _causes(made: reportpb.Report) -> Iterator[str]:
    unverified = [finding for finding in made.findings if finding.state == reportpb.FINDING_STATE_UNVERIFIED]
    unjudged = any(finding.unjudged for finding in unverified)
    unread = any(not finding.unjudged and finding.check.partition(".")[0] in CORE for finding in unverified)
    if unjudged:
        yield "This machine was too slow to judge all of it: see UNVERIFIED above, and run it again on a quiet machine."
    if unread:
        yield "Not all of the profile could be read in the user data: see UNVERIFIED above, and --decode-cmd."
    if not unjudged and not unread:
        yield "Not every check could be made: see NOT RUN above."


def _chapters(made: reportpb.Report) -> str:
    """Name the chapters that were tried; nothing when it was the whole contract."""
    titles = {chapter.id: chapter.title.partition(": ")[2] for chapter in chapters()}
    names = [titles[id_] for id_ in made.chapters]
    if len(names) in (0, len(titles)):
        # Some checks that break something break the contract, whatever else was tried.
        return ""
    return f"the chapter {names[0]} of " if len(names) == 1 else f"the chapters {' and '.join(names)} of "
