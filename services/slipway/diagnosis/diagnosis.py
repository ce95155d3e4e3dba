"""From logs to findings: the cause first, effects only where no cause is found, nothing that was over later."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import re2

from slipway.diagnosis.log_files import Log
from slipway.diagnosis.log_text import lines
from slipway.diagnosis.matching import Hit, Matcher, known_matcher
from slipway.diagnosis.rules import SYMPTOM, Recovery, Rule, expression
from slipway.diagnosis.scrubbing import scrubbed

_WIDEST = 400
_BEFORE = 120
_LONGEST = 64 << 10
"""Characters of a line that evidence is taken from."""


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


def diagnose(logs: Sequence[Log], matcher: Matcher | None = None) -> list[Finding]:
    """Give what is wrong, the most likely cause first; nothing where nothing is known to be wrong."""
    counts_of_logs = [_read(index, log, matcher or known_matcher()) for index, log in enumerate(logs)]
    settled = any(counts.everywhere for counts in counts_of_logs)
    seen: dict[Rule, _Seen] = {}
    for counts in counts_of_logs:
        if settled and not counts.everywhere:
            continue
        for rule, one in counts.open.items():
            first = seen.setdefault(rule, one)
            if first is not one:
                first.count += one.count
    ranked = sorted(seen.items(), key=lambda pair: (pair[0].precedence, pair[1].place))
    causes = [pair for pair in ranked if pair[0].precedence < SYMPTOM]
    return [_finding(rule, one, logs) for rule, one in causes or ranked]


def _read(index: int, log: Log, matcher: Matcher) -> _Counts:
    counts = _Counts()
    path = log.name if log.member else ""
    for number, line in lines(log.text or ""):
        for hit in matcher.hits(line, path):
            _note(counts, hit, (index, number), line)
    return counts


def _note(counts: _Counts, hit: Hit, place: tuple[int, int], line: str) -> None:
    if isinstance(hit.what, Recovery):
        counts.open.clear()
        counts.everywhere = counts.everywhere or hit.what.everywhere
    elif (seen := counts.open.get(hit.what)) is None:
        counts.open[hit.what] = _Seen(place, line, hit.pattern)
    elif seen.place != place:
        seen.count += 1


def _finding(rule: Rule, seen: _Seen, logs: Sequence[Log]) -> Finding:
    index, number = seen.place
    return Finding(rule, scrubbed(logs[index].name), number, _evidence(seen), seen.count)


def _evidence(seen: _Seen) -> str:
    """Give the line; of a long one the part around what matches. Cut last, so that no half of a secret is left."""
    text = scrubbed(seen.line[:_LONGEST])
    matched = re2.search(expression(seen.pattern), text)
    start = max(matched.start() - _BEFORE, 0) if matched and len(text) > _WIDEST else 0
    part = text[start : start + _WIDEST].strip()
    return f"{'…' if start else ''}{part}{'…' if start + _WIDEST < len(text) else ''}"
