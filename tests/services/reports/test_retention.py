"""Reports go when they are old, or the oldest when all are too large; two replicas may do it at once."""

import asyncio
from pathlib import Path

from slipway.reports.names import BundleKey
from slipway.reports.retention import Limits, Retention
from tests.services.reports.made import BEGUN, Clock, store_of
from tests.services.reports.test_report_store import SINK

HOUR = 3_600_000
DAY = 24 * HOUR


async def machines(folder: Path, limits: Limits, *, ages: list[int], replicas: int = 1) -> list[str]:
    """Keep a report of each age in hours, sweep, and give the machines whose reports are left."""
    clock = Clock()
    now = clock.now
    objects, store = store_of(folder, clock)
    for age in ages:
        clock.now = now - age * HOUR
        await store.add_events(BundleKey("default", "c", f"m{age:03}", "0123456789abcdef"), SINK, BEGUN)
    clock.now = now
    sweeps = [Retention(objects, limits, clock) for _ in range(replicas)]
    await asyncio.gather(*(retention.sweep() for retention in sweeps))
    assert await sweeps[0].sweep() == 0
    names = [report.machine.name for report in await store.page("default", most=1000)]
    objects.close()
    return names


async def test_old_reports_go(tmp_path: Path) -> None:
    """What is older than the limit goes, and its folders with it."""
    assert await machines(tmp_path, Limits(2, 2**40), ages=[0, 1, 47, 49, 100]) == ["m000", "m001", "m047"]
    assert sorted(path.name for path in (tmp_path / "reports/default/c").iterdir()) == ["m000", "m001", "m047"]


async def test_the_oldest_go_when_there_is_too_much(tmp_path: Path) -> None:
    """Never more is kept than allowed: the hours that fit, from the newest on."""
    size = len(BEGUN)
    assert await machines(tmp_path, Limits(100, 3 * size), ages=[0, 1, 2, 3, 4, 50]) == ["m000", "m001", "m002"]
    assert await machines(tmp_path / "none", Limits(100, size - 1), ages=[0, 1]) == []


async def test_replicas_sweep_at_once(tmp_path: Path) -> None:
    """What another one has deleted is no failure."""
    assert await machines(tmp_path, Limits(1, 2**40), ages=list(range(20, 40)), replicas=4) == [
        f"m{age:03}" for age in range(20, 24)
    ]


async def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    """An object of another name is never deleted."""
    other = tmp_path / "reports/default/c/m/b/notes.txt"
    other.parent.mkdir(parents=True)
    other.write_bytes(b"mine")
    assert await machines(tmp_path, Limits(1, 1), ages=[0, 100]) == []
    assert other.read_bytes() == b"mine"
