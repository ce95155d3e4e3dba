"""A store whose payloads are not deleted is warned of when the gateway starts."""

import os
import signal
import time
from pathlib import Path

import pytest

from slipway.node_gateway.store import LEFTOVER_DAYS, Store, warn_of_leftovers
from tests.services.node_gateway.served import PAYLOAD, fill
from tests.services.node_gateway.test_gateway_process import process

NAMES = ["a" * 64, "b" * 64, "c" * 64]


def age(path: Path, *, days: float) -> None:
    """Have a file be so old."""
    then = time.time() - days * 86_400
    os.utime(path, (then, then))


def payloads(folder: Path, *days: float) -> Store:
    """Give a store with payloads of such ages, and with an old file beside them."""
    fill(folder)
    (folder / "payload" / PAYLOAD).unlink()
    for name, each in zip(NAMES, days, strict=False):
        (folder / "payload" / name).write_bytes(b"x")
        age(folder / "payload" / name, days=each)
    age(folder / "secret", days=300)
    return Store.of(f"file://{folder}")


@pytest.mark.parametrize(
    ("days", "count", "reason"),
    [((), 0, "none"), ((0.5, 1.9), 0, "young ones"), ((0.5, LEFTOVER_DAYS + 0.1, 300), 2, "two that are too old")],
    ids=["none", "young", "old"],
)
async def test_old_payloads_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], days: tuple[float, ...], count: int, reason: str
) -> None:
    """One warning with their number, and without a name."""
    store = payloads(tmp_path, *days)
    assert await warn_of_leftovers(store) == count, reason
    output = capsys.readouterr().out
    assert output.count("store has old payloads") == bool(count)
    assert not any(name in output for name in NAMES)
    store.close()


async def test_a_store_that_fails_stops_nothing(tmp_path: Path) -> None:
    """A folder that cannot be listed, as a credential without the right to list."""
    store = payloads(tmp_path)
    (tmp_path / "payload").rmdir()
    (tmp_path / "payload").symlink_to("payload")
    assert await warn_of_leftovers(store) == 0
    store.close()


async def test_the_process_looks_when_it_starts(tmp_path: Path) -> None:
    """The gateway serves meanwhile, and ends in order."""
    payloads(tmp_path, 300).close()
    async with process(tmp_path, "--insecure") as (running, _):
        running.send_signal(signal.SIGTERM)
    assert running.returncode == 0
