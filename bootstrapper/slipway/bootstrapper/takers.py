"""Names who else takes what a format does not, by trying the same machine with the others, too.

What is promised is what happens: a format is named only where compilation and its provisioner's own Render refuse
nothing at the same place, nor the machine as a whole.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from slipway.bootstrapper.lowering.draft import Elsewhere, Refusal
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.bootstrapper.trial import Trial, of_the_machine
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import cluster_pb2 as clusterpb

_Place = tuple[str, str]


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

    def __init__(self, others: Iterable[tuple[str, Trial]]) -> None:
        """Look at the others, by name, in the order in which they are to be named; each already tried."""
        self._refused = {
            name: frozenset(_place(one) for one in trial.refusals)
            for name, trial in others
            if trial.judged and not any(of_the_machine(one) for one in trial.refusals)
        }

    def advise(self, refusals: Iterable[Refusal]) -> list[Refusal]:
        """Give the refusals; what another format takes names it in its remedy."""
        return [self._advised(one) if one.elsewhere is not Elsewhere.NOWHERE else one for one in refusals]

    def _advised(self, refusal: Refusal) -> Refusal:
        names = [name for name, refused in self._refused.items() if _place(refusal) not in refused]
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
