"""From logs to findings: the cause first, effects only where no cause is found, nothing that was over later."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import re2

from slipway.diagnosis.certainty import Certainty, certainty, counts_for, is_last_word
from slipway.diagnosis.log_files import Log
from slipway.diagnosis.log_text import lines
from slipway.diagnosis.matching import Hit, Matcher, known_matcher
from slipway.diagnosis.rules import Failure, Recovery, Rule, expression
from slipway.diagnosis.scrubbing import scrubbed
from slipway.diagnosis.suspicion import Suspect, last_suspects
from slipway.diagnosis.weighing import Sighting, weigh

_WIDEST = 400
_BEFORE = 120
_END = 10
"""Lines at the end of a log where what a program tries again has not ended yet."""
_NEAR = 25
"""Lines from words that many programs write to the failure that is the second evidence for them."""
_LAST = 3
_MOST_CANDIDATES = 3


class Outcome(StrEnum):
    """What the logs of a machine show."""

    DIAGNOSED = "Diagnosed"
    JOINED = "Joined"
    UNKNOWN = "Unknown"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        rule: what it means.
        source: name of the log.
        line: number of the first line that shows it.
        evidence: that line, without secrets.
        count: how many lines show it.
    """

    rule: Rule
    source: str
    line: int
    evidence: str
    count: int


@dataclass(frozen=True)
class Diagnosis:
    """What the logs of one machine show.

    Attributes:
        findings: what is wrong, the most likely cause first; empty where no rule knows.
        outcome: whether a reason is known, and if not, whether the machine became a node.
        candidates: where no cause is known, what it may be; the evidence for it is weak, or contradicts itself.
        suspects: where nothing is known, the last lines that look like errors; no rule stands behind them.
    """

    findings: tuple[Finding, ...]
    outcome: Outcome
    candidates: tuple[Finding, ...] = ()
    suspects: tuple[Suspect, ...] = ()


@dataclass
class _Counts:
    """What stands so far; a recovery takes back what came before it."""

    open: dict[Rule, Sighting] = field(default_factory=dict)
    broad: dict[Rule, int] = field(default_factory=dict)
    failed: int = 0
    last: int = 0
    everywhere: bool = False
    joined: bool = False


def diagnose(logs: Sequence[Log], matcher: Matcher | None = None) -> Diagnosis:
    """Give what is wrong with the machine that the logs are of."""
    counts_of_logs = [_read(index, log, matcher or known_matcher()) for index, log in enumerate(logs)]
    settled = any(counts.everywhere for counts in counts_of_logs)
    joined = any(counts.joined for counts in counts_of_logs)
    failed = any(counts.failed for counts in counts_of_logs if not settled or counts.everywhere)
    seen: dict[Rule, Sighting] = {}
    for counts in counts_of_logs:
        if settled and not counts.everywhere:
            continue
        for rule, sighting in counts.open.items():
            if joined and rule.until_joined:
                continue
            near = sighting.certainty < Certainty.BROAD or counts.last - sighting.last[1] <= _NEAR
            sighting.backed = sighting.backed or (failed and not counts.failed and near)
            first = seen.setdefault(rule, sighting)
            if first is not sighting:
                first.add(sighting)
    weighed = weigh(seen)
    findings = _findings(weighed.answers, seen, logs)
    candidates = () if joined else _findings(weighed.candidates[:_MOST_CANDIDATES], seen, logs)
    if findings:
        return Diagnosis(findings, Outcome.DIAGNOSED, candidates)
    if joined:
        return Diagnosis((), Outcome.JOINED)
    return Diagnosis((), Outcome.UNKNOWN, candidates, last_suspects(logs))


def _read(index: int, log: Log, matcher: Matcher) -> _Counts:
    counts = _Counts()
    path = log.name if log.member else ""
    for number, line in lines(log.text or ""):
        counts.last = number
        for hit in matcher.hits(line, path):
            _note(counts, hit, (index, number), line)
    for sighting in counts.open.values():
        followed = sighting.certainty < Certainty.BROAD and counts.failed >= sighting.place[1]
        sighting.backed = sighting.backed or followed or _is_end(sighting, counts.last - sighting.last[1])
    return counts


def _is_end(sighting: Sighting, behind: int) -> bool:
    """Whether the log ends with it: an attempt that has not ended, or the last words of a command."""
    if sighting.certainty < Certainty.BROAD:
        return behind < _END
    return behind < _LAST and is_last_word(sighting.line)


def _note(counts: _Counts, hit: Hit, place: tuple[int, int], line: str) -> None:
    if isinstance(hit.what, Recovery):
        _settle(counts, hit.what)
    elif isinstance(hit.what, Failure):
        _fail(counts, place[1])
    elif counts_for(line, hit.pattern):
        sighting = Sighting(place, line, hit.pattern, certainty(line, broad=hit.broad), place)
        if hit.broad:
            counts.broad[hit.what] = place[1]
        if (seen := counts.open.setdefault(hit.what, sighting)) is not sighting:
            sighting.count = int(seen.last != place)
            seen.add(sighting)


def _fail(counts: _Counts, number: int) -> None:
    """Take a failure for the second evidence of the broad words shortly before it."""
    for rule, line in counts.broad.items():
        if number - line <= _NEAR and rule in counts.open:
            counts.open[rule].backed = True
    counts.broad.clear()
    counts.failed = number


def _settle(counts: _Counts, recovery: Recovery) -> None:
    over = set(recovery.of)
    if not over:
        counts.failed = 0
    counts.open = {rule: seen for rule, seen in counts.open.items() if over and rule.reason not in over}
    counts.everywhere = counts.everywhere or recovery.everywhere
    counts.joined = counts.joined or recovery.joined or recovery.everywhere


def _findings(rules: Iterable[Rule], seen: dict[Rule, Sighting], logs: Sequence[Log]) -> tuple[Finding, ...]:
    return tuple(_finding(rule, seen[rule], logs) for rule in rules)


def _finding(rule: Rule, seen: Sighting, logs: Sequence[Log]) -> Finding:
    index, number = seen.place
    return Finding(rule, scrubbed(logs[index].name), number, _evidence(seen), seen.count)


def _evidence(seen: Sighting) -> str:
    """Give the line; of a long one the part around what matches. Cut last, so that no half of a secret is left."""
    text = scrubbed(seen.line)
    matched = re2.search(expression(seen.pattern), text)
    start = max(matched.start() - _BEFORE, 0) if matched and len(text) > _WIDEST else 0
    part = text[start : start + _WIDEST].strip()
    return f"{'…' if start else ''}{part}{'…' if start + _WIDEST < len(text) else ''}"
