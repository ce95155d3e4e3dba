"""What a kind of Go templates can use, and why one is refused."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


class GoTemplateError(ValueError):
    """The template is malformed, or uses something that is not understood; the message repeats nothing of it."""


Functions = Mapping[str, Callable[..., Any]]
"""Functions by name; one that raises TypeError, ValueError or IndexError refuses its arguments."""

NOBODY_KNOWS = (
    "a value that only the management cluster knows: import the objects that Cluster API has made of the topology; "
    "for a first look, --set-missing fills in a placeholder"
)
UNKNOWN = object()
"""A value of the data that exists, but is unknown here: a template that uses it is refused."""


@dataclass(frozen=True)
class Dialect:
    """What a kind of templates can use.

    Attributes:
        data: the value that the template is over.
        functions: functions beside those of text/template.
        fields: the only fields that there are, or None if every name may be one.
        missing: message when a missing value is printed; "" prints what Go prints.
    """

    data: Mapping[str, Any] = field(repr=False)
    functions: Functions = field(default_factory=dict, repr=False)
    fields: tuple[tuple[str, ...], ...] | None = None
    missing: str = "a value is printed that does not exist: set it, or guard it by {{ if }}"


NO_VERSION = "the control plane's version is not known: give it, or guard it by {{ if }}"
