"""Which rules match which lines: one pass for the literal words of all patterns, then the patterns that may match.

Both are RE2, so the time is linear in the line, whatever a log holds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import re2

from slipway.diagnosis.log_text import identifier
from slipway.diagnosis.rules import Failure, Recovery, Rule, RuleSet, expression, known_rules

What = Rule | Recovery | Failure


@dataclass(frozen=True)
class Hit:
    """A rule, a recovery or a failure that matches a line; `broad`: by words that prove little."""

    what: What
    pattern: str
    broad: bool = False


class Matcher:
    """All patterns of a set of rules."""

    def __init__(self, rules: RuleSet) -> None:
        """Compile them."""
        self._filter = re2.Filter()
        self._hits: list[Hit] = []
        self._unless: dict[What, list[re2._Regexp]] = {}
        # Failures come last: what stands in the same line is in front of them.
        everything: list[What] = [*rules.rules, *rules.recoveries, *rules.failures]
        for what in everything:
            for hit in _hits(what):
                self._filter.Add(expression(hit.pattern))
                self._hits.append(hit)
            if not isinstance(what, Recovery):
                self._unless[what] = [re2.compile(expression(pattern)) for pattern in what.unless]
        self._filter.Compile()

    def hits(self, line: str, path: str = "") -> Iterator[Hit]:
        """Give what matches a line; `path` is that of a member of a log bundle."""
        for index in sorted(self._filter.Match(line.encode("utf-8", "replace")) or ()):
            hit = self._hits[index]
            if isinstance(hit.what, Recovery) or self._applies(hit.what, line, path):
                yield hit

    def _applies(self, rule: Rule | Failure, line: str, path: str) -> bool:
        if isinstance(rule, Failure):
            return not _any(self._unless[rule], line)
        if path and rule.scope.files and not path.endswith(rule.scope.files):
            return False
        if rule.scope.units and (unit := identifier(line)) and unit not in rule.scope.units:
            return False
        return not _any(self._unless[rule], line)


def _hits(what: What) -> Iterator[Hit]:
    yield from (Hit(what, pattern) for pattern in what.patterns)
    if isinstance(what, Rule):
        yield from (Hit(what, pattern, broad=True) for pattern in what.broad)
        # How machineadm's own checks name the reason, in both forms of their output.
        yield Hit(what, rf"^(.* )?[a-z][a-z-]*: failed: {what.reason}(: |$)")
        yield Hit(what, rf'"level": ?"failed", ?"reason": ?"{what.reason}"')


def _any(patterns: Sequence["re2._Regexp"], line: str) -> bool:
    return any(pattern.search(line) for pattern in patterns)


@cache
def known_matcher() -> Matcher:
    """Give the matcher of the rules that are shipped; made once, as compiling costs more than a small log."""
    return Matcher(known_rules())
