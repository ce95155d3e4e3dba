"""Which of the reasons that a log names is the answer: sure ones, or weak ones with a second piece of evidence."""

from collections.abc import Mapping
from dataclasses import dataclass

from slipway.diagnosis.certainty import Certainty
from slipway.diagnosis.rules import ADVICE, SYMPTOM, Rule


@dataclass
class Sighting:
    """Where a rule matches.

    Attributes:
        place: log and line of the best evidence.
        line: its text.
        pattern: what matches in it.
        certainty: of the best evidence.
        last: log and line of the last match.
        backed: a failure follows, or the log ends there.
        count: of lines.
    """

    place: tuple[int, int]
    line: str
    pattern: str
    certainty: Certainty
    last: tuple[int, int]
    backed: bool = False
    count: int = 1

    def add(self, other: "Sighting") -> None:
        """Count a further match; the best evidence stays."""
        self.count += other.count
        self.last = max(self.last, other.last)
        self.backed = self.backed or other.backed
        if other.certainty < self.certainty:
            self.place, self.line, self.pattern, self.certainty = (
                other.place, other.line, other.pattern, other.certainty,
            )  # fmt: skip


Seen = Mapping[Rule, Sighting]


@dataclass(frozen=True)
class Weighed:
    """The answer, the most likely cause first, and what may be the reason but lacks evidence."""

    answers: tuple[Rule, ...]
    candidates: tuple[Rule, ...]


def weigh(seen: Seen) -> Weighed:
    """Give the answer; weak reasons never beside a sure cause, and none of several that contradict each other."""
    reasons = {rule.reason for rule in seen}
    sure = {rule for rule, sighting in seen.items() if _is_sure(rule, sighting, reasons)}
    weak = [rule for rule, sighting in seen.items() if rule not in sure and sighting.backed]
    if not any(rule.precedence < ADVICE for rule in sure):
        causes = _unexplained([rule for rule in weak if rule.precedence < ADVICE])
        answer = causes if len(causes) == 1 else _last_attempt(causes, seen)
        sure.update(answer)
        if not answer:
            weak = [rule for rule in weak if rule.precedence >= ADVICE]
        sure.update(rule for rule in weak if rule.precedence >= ADVICE)
    answers = _order(sure, seen)
    explained = {reason for rule in answers for reason in rule.explains}
    others = sorted((rule for rule in seen if rule not in sure), key=lambda rule: rule.precedence)
    known = any(rule.precedence < ADVICE for rule in answers)
    return Weighed(answers, () if known else tuple(rule for rule in others if rule.reason not in explained))


def _is_sure(rule: Rule, sighting: Sighting, reasons: set[str]) -> bool:
    """Whether the evidence is enough by itself, or an effect of the reason is there too."""
    return sighting.certainty == Certainty.SURE or any(reason in reasons for reason in rule.explains)


def _unexplained(rules: list[Rule]) -> list[Rule]:
    explained = {reason for rule in rules for reason in rule.explains}
    return [rule for rule in rules if rule.reason not in explained]


def _last_attempt(rules: list[Rule], seen: Seen) -> list[Rule]:
    """Of several ways in which the same attempt failed, give the last; of unrelated ones none."""
    sightings = [seen[rule] for rule in rules]
    same = len({rule.scope.phase for rule in rules}) == 1 and len({sighting.last[0] for sighting in sightings}) == 1
    if not same or any(sighting.certainty != Certainty.MILD for sighting in sightings):
        return []
    return [max(rules, key=lambda rule: seen[rule].last)]


def _order(rules: set[Rule], seen: Seen) -> tuple[Rule, ...]:
    """Give causes, or where there are none, effects and then warnings; nothing that another reason explains."""
    explained = {reason for rule in rules for reason in rule.explains}
    ranked = sorted(rules, key=lambda rule: (ADVICE <= rule.precedence < SYMPTOM, rule.precedence, seen[rule].place))
    # Two rules may explain each other; then the first of them stands.
    remaining = [rule for rule in ranked if rule.reason not in explained] or ranked[:1]
    causes = [rule for rule in remaining if rule.precedence < ADVICE]
    return tuple(
        [*causes, *(rule for rule in remaining if ADVICE <= rule.precedence < SYMPTOM)] if causes else remaining
    )
