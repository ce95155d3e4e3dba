"""An error as a text for people: one line for a condition, a line for each field for a terminal.

Services and commands take their texts of an error from here, so that both name a field in the same words.
"""

from slipway.contract.errors import SlipwayError
from slipway.contract.source_position import SourceError, with_remedy

_MOST_FIELDS = 8
"""Of one line: a condition is read in a table."""


def report(error: SlipwayError) -> str:
    """Return the reason with the message, then a line for each field with what is wrong and what to do."""
    lines = [f"{error.reason or error.code.name}: {error.message}"]
    lines += [
        f"  {violation.path}: {with_remedy(violation.description, violation.remedy)}" for violation in error.violations
    ]
    return "\n".join(lines)


def summary(error: SlipwayError) -> str:
    """Return one line: the message, then the first fields with what is wrong and what to do."""
    fields = [
        f"{violation.path}: {violation.description}" + (f" ({violation.remedy})" if violation.remedy else "")
        for violation in error.violations[:_MOST_FIELDS]
    ]
    return _joined([error.message, *fields], len(error.violations))


def summary_of_source(error: SourceError) -> str:
    """Return one line with the first fields of a document that cannot be read, and what is wrong with them."""
    fields = [f"{problem.path}: {problem.message}" for problem in error.problems[:_MOST_FIELDS]]
    return _joined(fields, len(error.problems))


def _joined(parts: list[str], fields: int) -> str:
    rest = f"; and {fields - _MOST_FIELDS} more" if fields > _MOST_FIELDS else ""
    return "; ".join(parts) + rest
