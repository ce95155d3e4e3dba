"""docs/reference/reasons.md: what `slipway diagnose` can say."""

from slipway.diagnosis.rules import ADVICE, SYMPTOM, Rule, known_rules
from tools.docgen.markdown import code, page, prose, table

_INTRODUCTION = f"""\
`slipway diagnose` ([how-to](../how-to/diagnose-a-node.md)) names one of these reasons, or none where the logs show none
that it knows. The names are stable. Of several reasons the one with the lowest precedence stands first: causes come
before their effects. Reasons with a precedence from {SYMPTOM} on are effects, reported only where no cause is found.
Those from {ADVICE} on are warnings, reported beside a cause, or after an effect. A reason that another one explains is
not reported beside it. Nothing counts when the machine joined afterwards.

Words that many programs write for many causes need a second piece of evidence: a line shortly behind them that shows
that the bootstrap failed, or an effect that the reason explains. They never stand beside a cause that is sure, and when
several of them contradict each other none is the answer. They are then candidates. The same holds for what a program
logs as information or warning, or tries again, unless the log ends there. kubeadm's `[WARNING ...]` lines, and failures
of programs beside the bootstrap, as sshd or snapd, count for nothing."""


def reason_page() -> str:
    """Give the page."""
    rules = sorted(known_rules().rules, key=lambda rule: rule.reason)
    return page(
        "Reasons of failed nodes",
        "services/slipway/diagnosis/reasons",
        _INTRODUCTION,
        *(_section(rule) for rule in rules),
    )


def _section(rule: Rule) -> str:
    facts = [code(rule.scope.engine), code(rule.scope.phase), str(rule.precedence), code(rule.id)]
    explained = ", ".join(f"[{reason}](#{reason.lower()})" for reason in rule.explains)
    return "\n\n".join(
        [
            f"## {rule.reason}",
            prose(rule.explanation),
            f"What to do: {prose(rule.remedy)}",
            *([f"Explains: {explained}."] if explained else []),
            table(["Engine", "Phase", "Precedence", "Rule"], [facts]),
        ]
    )
