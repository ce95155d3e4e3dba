"""How much a YAML text may hold: a short text with aliases can stand for gigabytes."""

from dataclasses import dataclass, replace


@dataclass(slots=True)
class Allowance:
    """Values that several texts may have together, aliases expanded: what is read of each is taken from it.

    Sound texts of the same request are read one after the other. Each within its own limits, a hundred of them may
    still be millions of values.
    """

    most: int
    used: int = 0

    @property
    def is_used_up(self) -> bool:
        """Whether the texts had more values than allowed; then none of a further text is read."""
        return self.used > self.most


@dataclass(frozen=True)
class Limits:
    """How much one text may hold: documents, nesting, and characters and nodes, both after aliases are expanded."""

    max_characters: int = 8 * 1024 * 1024
    max_depth: int = 100
    max_nodes: int = 250_000
    """Of a file; what is kept of a node is up to 700 bytes."""

    max_documents: int = 5_000
    """Empty ones count: each costs some kilobytes, and the time of its own checks."""

    together: Allowance | None = None
    """What the text may have together with others."""


SHORT = Limits(max_characters=1024 * 1024, max_nodes=20_000, max_documents=100)
"""What a field may hold whose text is YAML. A few lines with aliases can stand for millions of values."""


def limits_together(each: Limits | None = None) -> Limits:
    """Give limits for texts that are kept at the same time: all of them may hold as many values as one of them."""
    each = each or Limits()
    return replace(each, together=Allowance(each.max_nodes))
