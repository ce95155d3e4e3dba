"""From logs to findings: the cause first, effects only where no cause is found, nothing that was over later."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import re2

from slipway.diagnosis.log_files import Log
from slipway.diagnosis.log_text import LONGEST, lines
from slipway.diagnosis.matching import Hit, Matcher, known_matcher
from slipway.diagnosis.rules import SYMPTOM, Recovery, Rule, expression
from slipway.diagnosis.scrubbing import scrubbed
from slipway.diagnosis.suspicion import Suspect, last_suspects

_WIDEST = 400
_BEFORE = 120


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
        suspects: where nothing is known, the last lines that look like errors; no rule stands behind them.
    """

    findings: tuple[Finding, ...]
    outcome: Outcome
    suspects: tuple[Suspect, ...] = ()


@dataclass
class _Seen:
    place: tuple[int, int]
    line: str
    pattern: str
    count: int = 1


@dataclass
class _Counts:
    """What stands so far; a recovery takes back what came before it."""

    open: dict[Rule, _Seen] = field(default_factory=dict)
    everywhere: bool = False
    joined: bool = False


def diagnose(logs: Sequence[Log], matcher: Matcher | None = None) -> Diagnosis:
    """Give what is wrong with the machine that the logs are of."""
    counts_of_logs = [_read(index, log, matcher or known_matcher()) for index, log in enumerate(logs)]
    settled = any(counts.everywhere for counts in counts_of_logs)
    joined = any(counts.joined for counts in counts_of_logs)
    seen: dict[Rule, _Seen] = {}
    for counts in counts_of_logs:
        if settled and not counts.everywhere:
            continue
        for rule, sighting in counts.open.items():
            if joined and rule.until_joined:
                continue
            first = seen.setdefault(rule, sighting)
            if first is not sighting:
                first.count += sighting.count
    findings = tuple(_finding(rule, sighting, logs) for rule, sighting in _causes(seen))
    if findings:
        return Diagnosis(findings, Outcome.DIAGNOSED)
    if joined:
        return Diagnosis((), Outcome.JOINED)
    return Diagnosis((), Outcome.UNKNOWN, last_suspects(logs))


def _causes(seen: dict[Rule, _Seen]) -> list[tuple[Rule, _Seen]]:
    """Give what is reported: no effects beside a cause, and nothing that another reason explains."""
    explained = {reason for rule in seen for reason in rule.explains}
    ranked = sorted(seen.items(), key=lambda pair: (pair[0].precedence, pair[1].place))
    # Two rules may explain each other; then the first of them stands.
    remaining = [pair for pair in ranked if pair[0].reason not in explained] or ranked[:1]
    return [pair for pair in remaining if pair[0].precedence < SYMPTOM] or remaining


def _read(index: int, log: Log, matcher: Matcher) -> _Counts:
    counts = _Counts()
    path = log.name if log.member else ""
    for number, line in lines(log.text or ""):
        for hit in matcher.hits(line, path):
            _note(counts, hit, (index, number), line)
    return counts


def _note(counts: _Counts, hit: Hit, place: tuple[int, int], line: str) -> None:
    if isinstance(hit.what, Recovery):
        _settle(counts, hit.what)
    elif (seen := counts.open.get(hit.what)) is None:
        counts.open[hit.what] = _Seen(place, line, hit.pattern)
    elif seen.place != place:
        seen.count += 1


def _settle(counts: _Counts, recovery: Recovery) -> None:
    over = set(recovery.of)
    counts.open = {rule: seen for rule, seen in counts.open.items() if over and rule.reason not in over}
    counts.everywhere = counts.everywhere or recovery.everywhere
    counts.joined = counts.joined or recovery.joined or recovery.everywhere


def _finding(rule: Rule, seen: _Seen, logs: Sequence[Log]) -> Finding:
    index, number = seen.place
    return Finding(rule, scrubbed(logs[index].name), number, _evidence(seen), seen.count)


def _evidence(seen: _Seen) -> str:
    """Give the line; of a long one the part around what matches. Cut last, so that no half of a secret is left."""
    text = scrubbed(seen.line[:LONGEST])
    matched = re2.search(expression(seen.pattern), text)
    start = max(matched.start() - _BEFORE, 0) if matched and len(text) > _WIDEST else 0
    part = text[start : start + _WIDEST].strip()
    return f"{'…' if start else ''}{part}{'…' if start + _WIDEST < len(text) else ''}"
