"""When the work of a leader fails, its process ends in order, and with 1."""

import asyncio
import signal
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
import structlog.testing

from slipway.kubernetes_api.election import LostLeadership
from slipway.kubernetes_api.leader_work import LeaderWork


@pytest.fixture
async def ended() -> Any:
    """An event that is set by SIGTERM to this process."""
    event = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, event.set)
    yield event
    asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)


@pytest.fixture
def logs() -> Iterator[Any]:
    """What was logged."""
    with structlog.testing.capture_logs() as entries:
        yield entries


@pytest.mark.parametrize(
    ("failure", "event"),
    [
        (LostLeadership("x"), "leader election lost, process ends"),
        (ValueError("canary"), "keeper failed with an internal error, process ends"),
    ],
)
async def test_failed_work_ends_the_process(ended: Any, logs: Any, failure: Exception, event: str) -> None:
    """The server gets SIGTERM and drains; then the process ends with 1. The log names no value."""

    async def lead(election: object) -> None:
        assert election is None
        raise failure

    work = LeaderWork(lead, None, name="keeper", log=structlog.get_logger("x"))
    await work.start(None)  # type: ignore[arg-type]  # the server is not used
    await asyncio.wait_for(ended.wait(), 10)
    assert [entry["event"] for entry in logs] == [event]
    assert "canary" not in str(logs)
    with pytest.raises(SystemExit) as caught:
        work.check()
    assert caught.value.code == 1


async def test_work_that_is_stopped_has_not_failed(logs: Any) -> None:
    """A server that drains ends the work, and the process with 0."""

    async def lead(election: object) -> None:
        del election
        await asyncio.Event().wait()

    work = LeaderWork(lead, None, name="keeper", log=structlog.get_logger("x"))
    await work.start(None)  # type: ignore[arg-type]  # the server is not used
    await asyncio.sleep(0)
    await work.stop()
    work.check()
    assert logs == []
