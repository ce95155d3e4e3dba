"""Names who else takes what a format does not, by lowering the same machine for the others, too.

What is promised is what happens: a format is named only where it refuses nothing at the same place, nor the machine as
a whole.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from bootstrapper.compilation import Compiled
from bootstrapper.lowering.draft import Elsewhere, Refusal
from bootstrapper.provisioning.selection import Candidate
from services.contract.yaml_names import person_path
from slipway.v1alpha1 import cluster_pb2 as clusterpb

_Place = tuple[str, str]

_FACTS = ("intent.cluster", "intent.role", "intent.kubernetes_version", "machine", "target")
"""Fields of a bundle that are facts of machine and cluster: who refuses one of them refuses the machine."""


FORMAT = "format "
"""With it begins the name of another format of the same provisioner."""


def stand_ins(candidate: Candidate, candidates: Iterable[Candidate]) -> Iterator[tuple[str, Candidate]]:
    """Give the formats that may stand for a candidate's, each by the name that a person chooses it by.

    These are the other formats of its provisioner, and the first one of each other. A machine that an engine makes a
    node of is not turned into one that bootstraps itself, nor Linux into Windows.
    """
    seen = set()
    for other in candidates:
        own = other.name == candidate.name
        if own and other.format.format == candidate.format.format:
            continue
        if (candidate.takes_plan and not other.takes_plan) or not _same_family(candidate, other):
            continue
        if own or other.name not in seen:
            yield (f"{FORMAT}{other.format.format}" if own else other.name), other
        seen.add(other.name)


class Takers:
    """The formats that a machine could have in place of one, and what they refuse of it."""

    def __init__(self, others: Iterable[tuple[str, Compiled]]) -> None:
        """Look at the others, by name, in the order in which they are to be named; each already lowered."""
        self._refused = {
            name: frozenset(_place(one) for one in compiled.refusals)
            for name, compiled in others
            if compiled.draft is not None and not any(_of_the_machine(one) for one in compiled.refusals)
        }

    def advise(self, refusals: Iterable[Refusal]) -> list[Refusal]:
        """Give the refusals, those of the whole machine first; what another format takes names it in its remedy."""
        return [
            self._advised(one) if one.elsewhere is not Elsewhere.NOWHERE else one
            for one in sorted(refusals, key=lambda one: not _of_the_machine(one))
        ]

    def _advised(self, refusal: Refusal) -> Refusal:
        names = [name for name, refused in self._refused.items() if _place(refusal) not in refused]
        if refusal.elsewhere is Elsewhere.PROVISIONERS:
            # Nobody has asked the others for this very item: they are said to declare such things, no more.
            others = [name for name in names if not name.startswith(FORMAT)]
            more = f", or try {_joined(others)}" if others else ""
        else:
            more = f", or choose {_joined(names)}, which {'take' if len(names) > 1 else 'takes'} it" if names else ""
        return replace(refusal, remedy=refusal.remedy + more, elsewhere=Elsewhere.NOWHERE)


def _joined(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]


def _same_family(candidate: Candidate, other: Candidate) -> bool:
    families = set(other.format.os_families)
    return clusterpb.OS_FAMILY_LINUX in families or not families.isdisjoint(candidate.format.os_families)


def _place(refusal: Refusal) -> _Place:
    """Give where a refusal is; places of items are those of the user's document, since lowering moves their paths."""
    if refusal.origin.path:
        return refusal.origin.document, refusal.origin.path
    return "", person_path(refusal.path)


def _of_the_machine(refusal: Refusal) -> bool:
    """Tell whether a refusal is of the machine as a whole, whatever its spec says."""
    return not refusal.origin.path and (not refusal.path or refusal.path.startswith(_FACTS))
