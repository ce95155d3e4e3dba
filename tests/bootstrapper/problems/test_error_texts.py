"""The texts of errors: what a condition shows in one line, and a terminal in a line for each field."""

from slipway.bootstrapper.problems.error_texts import report, summary, summary_of_source
from slipway.contract.errors import SpecInvalid, Violation
from slipway.contract.source_position import Position, SourceError, SourceProblem


def test_a_terminal_gets_a_line_for_each_field() -> None:
    """The reason comes first; what to do is a sentence of its own."""
    error = SpecInvalid("the spec is not valid", violations=[Violation("spec.a", "is wrong", remedy="leave it out")])
    assert report(error) == "SPEC_INVALID: the spec is not valid\n  spec.a: is wrong. Leave it out"


def test_a_condition_gets_one_line() -> None:
    """Eight fields are shown with their remedies, and the rest is counted."""
    fields = [
        Violation(f"spec.f{number}", "is wrong", remedy="leave it out" if number == 0 else "") for number in range(9)
    ]
    text = summary(SpecInvalid("the spec is not valid", violations=fields))
    assert text.startswith("the spec is not valid; spec.f0: is wrong (leave it out); spec.f1: is wrong; ")
    assert text.endswith("; spec.f7: is wrong; and 1 more")
    assert "and" not in summary(SpecInvalid("the spec is not valid", violations=fields[:8]))


def test_a_document_that_cannot_be_read_gets_one_line() -> None:
    """Its fields without their place in a file, which the object of a condition does not have."""
    problem = SourceProblem("document", Position(1, 1), "spec.a", "unknown field")
    assert summary_of_source(SourceError([problem])) == "spec.a: unknown field"
