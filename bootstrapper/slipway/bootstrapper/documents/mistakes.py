"""What is wrong with one document, collected over several checks, so that nobody corrects it one check at a time.

A later check sees only what an earlier one could read. What it finds around a mistake is most likely the mistake once
more (a field is "required" because its name is misspelt), so it is left for the next time: better a problem that is
told late than one that there is not.
"""

from collections.abc import Iterable

from slipway.contract.source_position import FieldPath, SourceError, SourceProblem
from slipway.contract.yaml_document import Source

Found = tuple[FieldPath, str]
"""A field, and what is wrong with it."""


class Mistakes:
    """Everything that is wrong with a document so far."""

    def __init__(self, source: Source) -> None:
        """Begin with nothing."""
        self._source = source
        self._found: dict[Found, None] = {}

    def __bool__(self) -> bool:
        """Return whether anything is wrong."""
        return bool(self._found)

    @property
    def problems(self) -> list[SourceProblem]:
        """All of it, with its place, in the order of the checks."""
        return [self._source.problem(path, message) for path, message in self._found]

    @property
    def paths(self) -> list[FieldPath]:
        """The fields."""
        return [path for path, _ in self._found]

    def add(self, mistakes: Iterable[Found]) -> None:
        """Add what a check has found that depends on no other."""
        self._found |= dict.fromkeys(mistakes)

    def add_apart(self, mistakes: Iterable[Found]) -> None:
        """Add what a check has found, but for what may follow from what was wrong before."""
        earlier = self.paths
        self.add(violation for violation in mistakes if not any(self._follows(violation[0], path) for path in earlier))

    def add_outside(self, mistakes: Iterable[Found]) -> None:
        """Add what a check of the plain tree has found, but for what stands within what was wrong before."""
        earlier = self.paths
        self.add(violation for violation in mistakes if not any(_begins(violation[0], path) for path in earlier))

    def check(self) -> None:
        """End here if anything is wrong.

        Raises:
            SourceError: all of it.
        """
        if self._found:
            raise SourceError(self.problems)

    def _follows(self, path: FieldPath, wrong: FieldPath) -> bool:
        """Return whether a problem at `path` may follow from one at `wrong`."""
        holder = wrong[:-1]
        if _begins(path, wrong) or _begins(wrong, path):
            return True
        if _holds_entries(wrong) and _begins(path, holder):
            return True  # Entries are missing: numbers are those of others.
        if _of_a_list_with(wrong, path):
            return True  # What a whole entry is told for compares it with its neighbours.
        if not _begins(path, holder):
            return False
        beside = path[len(holder) :]
        shape = self._source.shape(holder)
        written = shape is not None and beside[0] in shape.children
        return not written or len(beside) == 1 or (len(beside) == 2 and isinstance(beside[1], int))  # noqa: PLR2004  # a key and an index


def _holds_entries(wrong: FieldPath) -> bool:
    return bool(wrong) and isinstance(wrong[-1], int)


def _of_a_list_with(wrong: FieldPath, path: FieldPath) -> bool:
    """Return whether `path` is an entry, as a whole, of a list in which `wrong` stands."""
    return bool(path) and isinstance(path[-1], int) and len(wrong) > len(path) and _begins(wrong, path[:-1])


def _begins(path: FieldPath, outer: FieldPath) -> bool:
    return path[: len(outer)] == outer
