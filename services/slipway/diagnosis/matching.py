"""Which rules match which lines: one automaton for all patterns, so a line is read once, in linear time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import re2

from slipway.diagnosis.log_text import identifier
from slipway.diagnosis.rules import Recovery, Rule, RuleSet, expression, known_rules

_MEMORY = 256 << 20
"""What the automaton may use at most; a hostile log makes it start over, which costs time, not memory."""


@dataclass(frozen=True)
class Hit:
    """A rule or a recovery that matches a line."""

    what: Rule | Recovery
    pattern: str


class Matcher:
    """All patterns of a set of rules."""

    def __init__(self, rules: RuleSet) -> None:
        """Compile them."""
        options = re2.Options()
        options.max_mem = _MEMORY
        self._set = re2.Set.SearchSet(options)
        self._hits: list[Hit] = []
        self._unless: dict[str, list[re2._Regexp]] = {}
        everything: list[Rule | Recovery] = [*rules.rules, *rules.recoveries]
        for rule in everything:
            for pattern in rule.patterns:
                self._set.Add(expression(pattern))
                self._hits.append(Hit(rule, pattern))
        for rule in rules.rules:
            self._unless[rule.id] = [re2.compile(expression(pattern)) for pattern in rule.unless]
        self._set.Compile()

    def hits(self, line: str, path: str = "") -> Iterator[Hit]:
        """Give what matches a line; `path` is that of a member of a log bundle."""
        for index in sorted(self._set.Match(line.encode("utf-8", "replace")) or ()):
            hit = self._hits[index]
            if isinstance(hit.what, Recovery) or self._applies(hit.what, line, path):
                yield hit

    def _applies(self, rule: Rule, line: str, path: str) -> bool:
        if path and rule.scope.files and not path.endswith(rule.scope.files):
            return False
        unit = identifier(line)
        if unit and rule.scope.units and unit not in rule.scope.units:
            return False
        return not _any(self._unless[rule.id], line)


def _any(patterns: Sequence["re2._Regexp"], line: str) -> bool:
    return any(pattern.search(line) for pattern in patterns)


@cache
def known_matcher() -> Matcher:
    """Give the matcher of the rules that are shipped; made once, as compiling costs more than a small log."""
    return Matcher(known_rules())
