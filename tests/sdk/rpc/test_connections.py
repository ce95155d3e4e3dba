"""Bounds of connections leave nothing behind of a connection that has ended."""

import asyncio
import gc
import weakref

from slipway.rpc.connections import Bounded, Bounds


class Line(asyncio.Transport):
    """A transport that notes whether it was aborted."""

    aborted = False

    def abort(self) -> None:
        """Note it."""
        self.aborted = True


def _open(bounded: Bounded, line: Line) -> asyncio.Protocol:
    made = bounded()
    assert isinstance(made, asyncio.Protocol)
    made.connection_made(line)
    return made


async def test_a_connection_that_ended_is_let_go() -> None:
    """A peer that connects again and again takes no memory: no timer holds what has ended, however long it runs."""
    bounded = Bounded(asyncio.Protocol, Bounds(seconds=900.0))
    held = []
    for _ in range(10):
        line = Line()
        _open(bounded, line).connection_lost(None)
        held.append(weakref.ref(line))
    del line
    gc.collect()
    assert [reference() for reference in held] == [None] * 10


async def test_a_connection_that_is_too_many_leaves_the_others_alone() -> None:
    """It is aborted, and its end takes neither place nor timer of another one."""
    bounded = Bounded(asyncio.Protocol, Bounds(total=1))
    first, second, third = Line(), Line(), Line()
    kept = _open(bounded, first)
    _open(bounded, second).connection_lost(None)
    assert (first.aborted, second.aborted) == (False, True)
    kept.connection_lost(None)
    _open(bounded, third)
    assert not third.aborted


async def test_a_connection_lives_no_longer_than_its_bound() -> None:
    """Its timer aborts it."""
    bounded = Bounded(asyncio.Protocol, Bounds(seconds=0.0))
    line = Line()
    _open(bounded, line)
    while not line.aborted:  # noqa: ASYNC110  # a transport has no event
        await asyncio.sleep(0)
