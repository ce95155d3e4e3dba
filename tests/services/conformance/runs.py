"""Runs of chosen checks against a bent provisioner."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from slipway.conformance.catalogue import all_checks
from slipway.conformance.check import Check
from slipway.conformance.options import Options, Patience
from slipway.conformance.runner import Result, result
from slipway.conformance.session import Session, opened
from tests.services.conformance.bent import Bent, InProcess

QUICK = Patience(start=1.5, refusal=1, end=2, reload=1, back=3, render=2)
"""In one process nothing takes long but what never comes."""

CHECKS = {check.id: check for check in all_checks()}
SMOKE = (
    "TRN-001.both-calls", "TRN-002.health", "INF-001.name", "INF-004.advertised", "FEA-002.smallest-bundle",
    "FEA-005.not-computed", "RND-006.sha256", "RND-020.other-family", "ERR-003.unknown-format",
    "LIM-004.generous-limit", "SEC-003.secrets-in-answers", "EXE-001.entry-point", "VER-001.other-major",
)  # fmt: skip
"""Quick checks of every group but REG, which a mutant of another group must not make fail."""


@asynccontextmanager
async def session(bent: Bent | None = None, *, secure: bool = False) -> AsyncIterator[Session]:
    """Open a session with a bent provisioner."""
    options = Options(insecure=not secure, renders=40, patience=QUICK)
    async with opened(options, launcher=InProcess(bent)) as found:
        # What a mutant waits for takes no longer on a slow machine.
        found.heartbeat.slowness = lambda: 1.0
        yield found


async def results(found: Session, ids: Iterable[str]) -> dict[str, Result]:
    """Run checks, one after the other."""
    return {id_: await result(found, CHECKS[id_]) for id_ in ids}


def group(id_: str) -> str:
    """Give the group of a check."""
    check: Check = CHECKS[id_]
    return check.group
