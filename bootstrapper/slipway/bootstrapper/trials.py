"""Tries a machine with formats, to tell people what they may choose: nothing is created, and nobody gets a secret.

A trial is as dear as a render, so there is none where nothing is refused. What formats have in common is made once.
"""

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial

from slipway.bootstrapper.assembly.subject import CheckedSubject
from slipway.bootstrapper.beside import beside
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.judgement import judge
from slipway.bootstrapper.lowering.draft import Elsewhere, Refusal
from slipway.bootstrapper.placeholders import hidden, user_placeholders
from slipway.bootstrapper.preparer import Prepared, Preparer
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.bootstrapper.refusals import as_written
from slipway.bootstrapper.takers import Takers, stand_ins
from slipway.bootstrapper.trial import TRIAL_TIMEOUT, Trial, in_order
from slipway.v1alpha1 import bundle_pb2 as bundlepb
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
        """Give the neutral bundle with placeholders for all secrets, which are given too. Nobody may change it.

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
                self._neutral[key] = bundle, [hidden(one) for one in available]
        return self._neutral[key]

    async def prepared(self, candidate: Candidate) -> Prepared:
        """Lower the bundle for a candidate; nothing is refused here."""
        neutral, available = await self.neutral(candidate)
        optional = frozenset(self._subject.spec.optional_features)
        compiled = await self._preparer.compile(neutral, candidate, optional_features=optional)
        return Prepared(self._subject, candidate, compiled, available, neutral)

    async def advise(self, candidate: Candidate, refusals: Sequence[Refusal]) -> list[Refusal]:
        """Give a candidate's refusals, with who else takes what it does not; each where its field was written."""
        wanted = any(one.elsewhere is not Elsewhere.NOWHERE for one in refusals)
        others = await self._stand_ins(candidate) if wanted else []
        return await beside(self._subject.spec.ByteSize(), partial(self._advised, refusals, others))

    def _advised(self, refusals: Sequence[Refusal], others: Iterable[tuple[str, Trial]]) -> list[Refusal]:
        return list(as_written(Takers(others).advise(in_order(refusals)), self._subject.layers))

    async def _secrets(self) -> secretpb.SecretMaterial:
        if self._placeholders is None:
            spec = self._subject.spec
            self._placeholders = await beside(spec.ByteSize(), partial(user_placeholders, spec))
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
