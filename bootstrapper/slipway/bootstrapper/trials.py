"""Tries a machine with formats, to report which ones a user may choose: nothing is created, and no secret is sent.

A trial costs as much as a render: it only runs where something is refused. What formats have in common is made once.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from slipway.bootstrapper.assembly.subject import CheckedSubject
from slipway.bootstrapper.beside import beside
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.judgement import TRIAL_TIMEOUT, Trial, judge
from slipway.bootstrapper.placeholders import hidden, user_placeholders
from slipway.bootstrapper.prepared import Prepared
from slipway.bootstrapper.preparer import Preparer
from slipway.bootstrapper.problems.places import as_written
from slipway.bootstrapper.problems.problem import Problem, in_order
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import secret_pb2 as secretpb

_Neutral = tuple[bundlepb.BootstrapBundle, Sequence[secretpb.Secret]]


class Trials:
    """The trials of one machine."""

    def __init__(self, preparer: Preparer, subject: CheckedSubject) -> None:
        """Try nothing yet."""
        self._preparer = preparer
        self._subject = subject
        self._placeholders: secretpb.SecretMaterial | None = None
        self._neutral: dict[tuple[bytes, ...], _Neutral] = {}
        self._making = asyncio.Lock()

    async def neutral(self, candidate: Candidate | None) -> _Neutral:
        """Give the neutral bundle with placeholders for all secrets, which are given too. It must not be changed.

        Raises:
            SlipwayError: as Preparer.neutral().
        """
        setting = self._preparer.setting(self._subject, candidate)
        key = setting.key()
        async with self._making:
            if key not in self._neutral:
                bundle, available, _ = await self._preparer.neutral_in(
                    self._subject, setting, await self._secrets(), store=PlaceholderStore()
                )
                self._neutral[key] = bundle, [hidden(entry) for entry in available]
        return self._neutral[key]

    async def prepared(self, candidate: Candidate) -> Prepared:
        """Lower the bundle for a candidate; nothing is refused here."""
        shared, available = await self.neutral(candidate)
        neutral = await beside(shared.ByteSize(), partial(_rendered_by, candidate, shared))
        optional = frozenset(self._subject.spec.optional_features)
        compiled = await self._preparer.compile(neutral, candidate, optional_features=optional)
        secrets = (await self._secrets()).secrets
        return Prepared(self._subject, candidate, compiled, available, neutral, request_secrets=secrets)

    async def advise(self, candidate: Candidate, refusals: Sequence[Problem]) -> list[Problem]:
        """Give a candidate's refusals, with who else takes what it does not; each where its field was written."""
        wanted = any(problem.other_formats for problem in refusals)
        others = await self._stand_ins(candidate) if wanted else []
        return await beside(self._subject.spec.ByteSize(), partial(self._advised, refusals, others))

    def _advised(self, refusals: Sequence[Problem], others: Iterable[tuple[str, Trial]]) -> list[Problem]:
        return list(as_written(Takers(others).advise(in_order(refusals)), self._subject.layers))

    async def _secrets(self) -> secretpb.SecretMaterial:
        if self._placeholders is None:
            spec, plan = self._subject.spec, self._subject.plan
            self._placeholders = await beside(spec.ByteSize(), partial(user_placeholders, spec, plan))
        return self._placeholders

    async def _stand_ins(self, candidate: Candidate) -> list[tuple[str, Trial]]:
        """Try the formats that may stand for a candidate's, each by its name.

        All of them together have a few seconds; those that have not answered by then are left out.
        """
        tasks = {
            name: asyncio.ensure_future(self._try(other))
            for name, other in stand_ins(candidate, self._preparer.options(self._subject))
        }
        if not tasks:
            return []
        try:
            done, _ = await asyncio.wait(tasks.values(), timeout=TRIAL_TIMEOUT)
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)
        return [(name, task.result()) for name, task in tasks.items() if task in done]

    async def _try(self, candidate: Candidate) -> Trial:
        try:
            return await judge(self._preparer, await self.prepared(candidate))
        except Exception:  # noqa: BLE001  # who is only looked at must not spoil the answer about another
            return Trial()


def _rendered_by(candidate: Candidate, neutral: bundlepb.BootstrapBundle) -> bundlepb.BootstrapBundle:
    """Return a copy that names the provisioner, as a rendered machine has it: so the sizes are the same."""
    result = bundlepb.BootstrapBundle()
    result.CopyFrom(neutral)
    result.provenance.provisioner = f"{candidate.name}/{candidate.version}"
    return result


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
    """The formats that a machine could have in place of one, and what they refuse of it.

    What is promised is what happens: a format is named only where compilation and its provisioner's own Render refuse
    nothing at the same place, nor the machine as a whole.
    """

    def __init__(self, others: Iterable[tuple[str, Trial]]) -> None:
        """Look at the others, by name, in the order in which they are to be named; each already tried."""
        self._refused = {
            name: frozenset(_place(problem) for problem in trial.refusals)
            for name, trial in others
            if trial.judged and not any(problem.of_machine for problem in trial.refusals)
        }

    def advise(self, problems: Iterable[Problem]) -> list[Problem]:
        """Return the problems, with the names of the formats that take what another format may take."""
        return [self._advised(problem) if problem.other_formats else problem for problem in problems]

    def _advised(self, problem: Problem) -> Problem:
        place = _place(problem)
        names = [name for name, refused in self._refused.items() if place not in refused]
        return replace(problem, alternative=problem.alternative + _alternative(names), other_formats=False)


def _alternative(names: Sequence[str]) -> str:
    if not names:
        return ""
    *others, last = names
    joined = f"{', '.join(others)} or {last}" if others else last
    return f", or choose {joined}, which {'take' if others else 'takes'} it"


def _same_family(candidate: Candidate, other: Candidate) -> bool:
    families = set(other.format.os_families)
    return clusterpb.OS_FAMILY_LINUX in families or not families.isdisjoint(candidate.format.os_families)


def _place(problem: Problem) -> tuple[str, str]:
    """Return where a problem is; places of items are those of the user's document, since lowering moves their paths."""
    if problem.origin.path:
        return problem.origin.document, problem.origin.path
    return "", person_path(problem.path)
