"""A process that has announced itself to the suite's own registry: what checks of leases begin with."""

import time
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise

from slipway.conformance.heartbeat import Heartbeat
from slipway.conformance.launcher import Running
from slipway.conformance.outcome import Broken
from slipway.conformance.registry import Call, OwnRegistry
from slipway.conformance.session import Session
from slipway.conformance.subject import Subject


@dataclass(frozen=True, slots=True)
class Registered:
    """A process of the provisioner that has announced itself to a registry."""

    registry: OwnRegistry
    running: Running
    subject: Subject


@dataclass(frozen=True, slots=True)
class Pause:
    """A time between two calls.

    Attributes:
        seconds: how long it was.
        late: by how many seconds the suite itself was late in it.
    """

    seconds: float
    late: float = 0.0


def pauses(calls: Iterable[Call], heartbeat: Heartbeat) -> list[Pause]:
    """Give the times between calls."""
    return [Pause(after.at - before.at, heartbeat.late(before.at, until=after.at)) for before, after in pairwise(calls)]


@asynccontextmanager
async def registered(session: Session) -> AsyncIterator[Registered]:
    """Run a registry and a process that has announced itself there."""
    async with AsyncExitStack() as stack:
        registry = await stack.enter_async_context(session.registry())
        setup = session.setup(registry=registry.address)
        running, subject = await stack.enter_async_context(session.process(setup))
        if not await registry.until(lambda: registry.of("Register"), session.options.patience.start):
            raise Broken("with a registry it did not call Register")
        yield Registered(registry, running, subject)


async def serves(session: Session, subject: Subject) -> bool:
    """Whether a process says that it serves; one that does not answer at all is asked again on a busy machine."""
    since = time.monotonic()
    got = await subject.health("")
    if got.code == "DEADLINE_EXCEEDED" and session.heartbeat.said(since):
        got = await subject.health("")
    return subject.serves(got)
