"""A provisioner that a check brings down: it costs that check, and not the report of all others."""

import grpc.aio
import pytest

from slipway.conformance.check import Check
from slipway.conformance.outcome import Broken
from slipway.conformance.runner import Ending, result
from slipway.conformance.session import Session
from tests.services.conformance.bent import Bent, Life
from tests.services.conformance.runs import CHECKS, session


class Mortal(Life):
    """A process of which the server can be ended."""

    def __init__(self) -> None:
        self.servers: list[grpc.aio.Server] = []

    def add(self, server: grpc.aio.Server) -> None:
        self.servers.append(server)


@pytest.mark.parametrize(
    ("started", "said", "after"),
    [
        (True, "after this check it no longer answered, and was started again", (Ending.PASSED, ())),
        (False, "it no longer answers", (Ending.NOT_RUN, ("it no longer answers",))),
    ],
)
async def test_one_that_no_longer_answers(started: bool, said: str, after: tuple[Ending, tuple[str, ...]]) -> None:
    """It is started again where the suite can do that; else nothing more is asked, and nobody waits for each answer."""
    life = Mortal()

    async def deadly(_found: Session) -> None:
        await life.servers[-1].stop(0)
        raise Broken("it fell")

    async with session(Bent(process=life)) as found:
        if not started:
            found.launcher = None
        fell = await result(found, Check("RND-001", "deadly", frozenset(), run=deadly))
        then = await result(found, CHECKS["FEA-002.smallest-bundle"])
    assert (fell.ending, fell.found) == (Ending.FAILED, ("it fell", said))
    assert (then.ending, then.found) == after
    assert len(life.servers) == 1 + started


async def test_one_that_answers_stays() -> None:
    """A check that fails is no reason to start anything."""
    life = Mortal()

    async def broken(_found: Session) -> None:
        raise Broken("it is wrong")

    async with session(Bent(process=life)) as found:
        wrong = await result(found, Check("RND-001", "broken", frozenset(), run=broken))
    assert wrong.found == ("it is wrong",)
    assert len(life.servers) == 1
