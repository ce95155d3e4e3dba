"""Which rules match which lines: one pass for the literal words of all patterns, then the patterns that may match.

Both are RE2, so the time is linear in the line, whatever a log holds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import re2

from slipway.diagnosis.log_text import identifier
from slipway.diagnosis.rules import Recovery, Rule, RuleSet, expression, known_rules


@dataclass(frozen=True)
class Hit:
    """A rule or a recovery that matches a line."""

    what: Rule | Recovery
    pattern: str


class Matcher:
    """All patterns of a set of rules."""

    def __init__(self, rules: RuleSet) -> None:
        """Compile them."""
        self._filter = re2.Filter()
        self._hits: list[Hit] = []
        self._unless: dict[str, list[re2._Regexp]] = {}
        everything: list[Rule | Recovery] = [*rules.rules, *rules.recoveries]
        for rule in everything:
            for pattern in (*rule.patterns, *_named(rule)):
                self._filter.Add(expression(pattern))
                self._hits.append(Hit(rule, pattern))
        for rule in rules.rules:
            self._unless[rule.id] = [re2.compile(expression(pattern)) for pattern in rule.unless]
        self._filter.Compile()

    def hits(self, line: str, path: str = "") -> Iterator[Hit]:
        """Give what matches a line; `path` is that of a member of a log bundle."""
        for index in sorted(self._filter.Match(line.encode("utf-8", "replace")) or ()):
            hit = self._hits[index]
            if isinstance(hit.what, Recovery) or self._applies(hit.what, line, path):
                yield hit

    def _applies(self, rule: Rule, line: str, path: str) -> bool:
        if path and rule.scope.files and not path.endswith(rule.scope.files):
            return False
        if rule.scope.units and (unit := identifier(line)) and unit not in rule.scope.units:
            return False
        return not _any(self._unless[rule.id], line)


def _named(rule: Rule | Recovery) -> Iterator[str]:
    """Give how machineadm's own checks name the reason, in both forms of their output."""
    if isinstance(rule, Rule):
        yield rf"^(.* )?[a-z][a-z-]*: failed: {rule.reason}(: |$)"
        yield rf'"level": ?"failed", ?"reason": ?"{rule.reason}"'


def _any(patterns: Sequence["re2._Regexp"], line: str) -> bool:
    return any(pattern.search(line) for pattern in patterns)


@cache
def known_matcher() -> Matcher:
    """Give the matcher of the rules that are shipped; made once, as compiling costs more than a small log."""
    return Matcher(known_rules())
