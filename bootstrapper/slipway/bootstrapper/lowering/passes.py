"""What a pass is, and the table of all passes.

The table is a DAG: a pass emits only features that stand below its own. A test walks it, so that lowering always ends.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from slipway.bootstrapper.lowering.draft import Draft
from slipway.contract.items import Item
from slipway.v1alpha1 import cluster_pb2 as clusterpb

Lower = Callable[[Sequence[Item], Draft], None]
"""Rewrites items, which have been taken out of the draft's bundle already. Raises CannotLower for one it cannot do."""


@dataclass(frozen=True, slots=True)
class Pass:
    """Lowers the items of one feature for one family of operating systems.

    Attributes:
        id: its name in provenance and origins, e.g. "linux.sysctls".
        feature: id of the field whose items it takes.
        family: family of operating systems.
        emits: features that it may emit besides staged files and steps.
        lower: the pass itself; a pure function of items, profile, target and bundle.
    """

    id: str
    feature: str
    family: clusterpb.OsFamily.ValueType
    emits: frozenset[str]
    lower: Lower


class PassTable:
    """All passes, by feature and family, and what can be done about items that no pass takes."""

    def __init__(
        self, passes: Sequence[Pass], remedies: Mapping[tuple[str, clusterpb.OsFamily.ValueType], str] | None = None
    ) -> None:
        """Index the passes; each feature and family has at most one, or a remedy in its place."""
        self._remedies = dict(remedies or {})
        self._passes = {(pass_.feature, pass_.family): pass_ for pass_ in passes}
        if len(self._passes) != len(passes) or self._passes.keys() & self._remedies.keys():
            raise AssertionError("two passes, or a pass and a remedy, for the same feature and family")

    def find(self, feature: str, family: clusterpb.OsFamily.ValueType) -> Pass | None:
        """Give the pass for a feature, or None."""
        return self._passes.get((feature, family))

    def remedy(self, feature: str, family: clusterpb.OsFamily.ValueType) -> str:
        """Give what the user can do about a feature that no pass takes, or ""."""
        return self._remedies.get((feature, family), "")

    def __iter__(self) -> Iterator[Pass]:
        return iter(self._passes.values())
