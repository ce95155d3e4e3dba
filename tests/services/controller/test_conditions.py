"""Conditions as Cluster API's contract wants them."""

import pytest

from slipway.controller import conditions
from slipway.controller.conditions import Condition, Type, written
from slipway.controller.reasons import Reason
from slipway.controller.wrapping import ANNOTATION, wraps


def test_times_change_with_the_status_only() -> None:
    """A new message keeps the time of the last transition; a new status has a new one."""
    before = written([Condition(Type.READY, "False", "A", "x")], [], generation=1, now="t1")
    same = written([Condition(Type.READY, "False", "B", "y")], before, generation=2, now="t2")
    assert same[0]["lastTransitionTime"] == "t1"
    assert (same[0]["reason"], same[0]["observedGeneration"]) == ("B", 2)
    assert written([Condition(Type.READY, "True", "C")], same, generation=2, now="t3")[0]["lastTransitionTime"] == "t3"


def test_a_halt_says_what_is_known_and_what_is_not() -> None:
    """Ready and the condition it is about are False; what holds is True; the rest Unknown."""
    found = {
        one.type: one.status for one in conditions.halted("X", "why", type_=Type.PROVISIONER, known=[Type.CERTIFICATES])
    }
    assert found == {
        Type.READY: "False",
        Type.DATA_SECRET: "False",
        Type.CERTIFICATES: "True",
        Type.PROVISIONER: "False",
        Type.PAUSED: "False",
    }


def test_a_message_has_an_end() -> None:
    """A refusal of a thousand fields is no status of a megabyte."""
    found = conditions.halted("X", "y" * 100_000, type_=Type.DATA_SECRET)
    assert max(len(one.message) for one in found) == conditions.LONGEST_MESSAGE


def test_pause_keeps_what_was_said() -> None:
    """Nothing else of a paused config changes."""
    before = written(conditions.ready(), [], generation=1, now="t")
    found = {one.type: (one.status, one.reason) for one in conditions.paused("why", before)}
    assert found[Type.READY] == ("True", "Available")
    assert found[Type.PAUSED] == ("True", Reason.PAUSED)


@pytest.mark.parametrize(
    ("kind", "annotations", "wrapped"),
    [
        ("AWSMachine", {}, True),
        ("AWSMachine", {ANNOTATION: "true"}, False),
        ("DockerMachine", {ANNOTATION: "true"}, True),
        ("VSphereMachine", {}, False),
    ],
)
def test_who_changes_user_data(kind: str, annotations: dict[str, str], wrapped: bool) -> None:
    """A person can say that their machines are an exception only where there is one."""
    assert bool(wraps(kind, annotations)) is wrapped
