"""What a control demands of a value."""

import pytest
from pydantic import ValidationError

from slipway.bootstrapper.compliance.rule import Rule, text_of

JUDGED = [
    (Rule(value=False), "false", True),
    (Rule(value=False), "true", False),
    (Rule(value=False), None, False),
    (Rule(value=0, or_unset=True), None, True),
    (Rule(equals="127.0.0.1", or_unset=True), "0.0.0.0", False),
    (Rule(includes="RBAC"), "Node,RBAC", True),
    (Rule(includes="RBAC"), "Node,RBACX", False),
    (Rule(includes="RBAC"), None, False),
    (Rule(excludes="AlwaysAllow"), "Node,RBAC", True),
    (Rule(excludes="AlwaysAllow"), "AlwaysAllow,RBAC", False),
    (Rule(excludes=("0", "0s")), "0s", False),
    (Rule(among=("a", "b")), "b,a", True),
    (Rule(among=("a", "b")), "a,c", False),
    (Rule(among=("a", "b")), "", False),
    (Rule(at_least=30), "30", True),
    (Rule(at_least=30), "29", False),
    (Rule(at_least=30), "-40", False),
    (Rule(at_least=30), "many", False),
    (Rule(present=True), "/x", True),
    (Rule(present=True), "", False),
    (Rule(present=True), None, False),
    (Rule(present=False), None, True),
    (Rule(present=False), "/x", False),
]
"""Rules, values, and the verdicts; the program that checks a machine is held to the same ones."""


@pytest.mark.parametrize(("rule", "observed", "verdict"), JUDGED)
def test_a_value_is_judged(rule: Rule, observed: str | None, verdict: bool) -> None:
    """Every operator accepts what it demands, and nothing else."""
    assert rule.accepts(observed) is verdict


@pytest.mark.parametrize("fields", [{}, {"equals": "a", "present": True}, {"or_unset": True}])
def test_a_rule_demands_one_thing(fields: dict[str, object]) -> None:
    """A rule that demands nothing, or two things, is a mistake in a profile."""
    with pytest.raises(ValidationError):
        Rule.model_validate(fields)


def test_values_are_written_as_arguments_are() -> None:
    """Truth is in lower case, lists have commas."""
    assert [text_of(value) for value in (True, False, 5, "x", ["a", "b"])] == ["true", "false", "5", "x", "a,b"]
