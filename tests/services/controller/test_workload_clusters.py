"""Workload clusters: when they are read, those that fail or are silent, and how much is kept of what they hold."""

import asyncio
import pickle
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from slipway.controller import workload_reports
from slipway.controller.machine_report import MachineReport
from slipway.controller.read_texts import ReadTexts
from slipway.controller.workload import Connected, Workloads
from slipway.controller.workload_reports import NAMESPACE, WorkloadReports, reports_of
from slipway.kubernetes_api.failures import ApiFailure, Forbidden, Unreachable
from slipway.kubernetes_api.resources import CONFIG_MAPS, Json
from tests.services.controller.scene import CLUSTER, Scene
from tests.services.controller.workload_reading import FAILED_STATE, MACHINE, UNFINISHED_STATE, Reading
from tests.services.kubernetes_api.memory_api import Call
from tests.services.reports.made import BEGUN, COMPLETE, FAILED


@pytest.fixture
def reading(scene: Scene) -> Reading:
    """Give a cluster in which one machine waits to join."""
    scene.cluster()
    scene.workload_ready()
    return Reading(scene)


async def test_a_cluster_is_read_while_machines_wait_and_once_more(reading: Reading) -> None:
    """Where all have joined no call is made, after one that deletes what they reported last."""
    reading.put(FAILED)
    await reading.reports.look()
    reading.machines[:] = [replace(MACHINE, joined=True)]
    await reading.reports.look()
    assert reading.nodes() == set()
    reading.scene.workload.calls.clear()
    await reading.reports.look()
    assert reading.scene.workload.calls == []
    assert reading.state() is None


FAILURES = [Unreachable("GET", "ConfigMap"), Forbidden("GET", "ConfigMap")]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
async def test_a_cluster_that_fails_keeps_no_machine_waiting(reading: Reading, failure: ApiFailure) -> None:
    """What was known stays, and the line to the cluster, which tokens need, is as it was."""
    reading.put(FAILED)
    await reading.reports.look()

    def fail(call: Call) -> None:
        if call[0] == "page":
            raise failure

    reading.scene.workload.before = fail
    await reading.reports.look()
    assert reading.state() == FAILED_STATE
    assert await reading.workloads.connected("default", CLUSTER) is reading.scene.workload


async def test_a_cluster_that_does_not_answer_is_left_alone(reading: Reading) -> None:
    """For a while that grows with each failure; with one answer its reports are read, with some it is as new."""
    calls, fails = [], True

    def fail(call: Call) -> None:
        if call[0] == "page":
            calls.append(reading.seconds)
            if fails:
                raise Unreachable("GET", "ConfigMap")

    reading.scene.workload.before = fail
    for second in range(0, 320, 5):
        reading.seconds = float(second)
        await reading.reports.look()
    assert calls == [0, 5, 15, 35, 75, 135, 195, 255, 315]
    reading.put(BEGUN)
    reading.seconds, fails = 375.0, False
    await reading.reports.look()
    assert reading.state() == UNFINISHED_STATE
    for answers, rest in ((1, 40), (9, 5)):
        fails = False
        for _ in range(answers):
            reading.seconds += 60
            await reading.reports.look()
        calls.clear()
        fails, failed = True, reading.seconds
        for _ in range(13):
            await reading.reports.look()
            reading.seconds += 5
        assert calls[:2] == [failed, failed + rest]


class Silent:
    """Clusters of which some never answer, and the number of calls of each."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.calls: Counter[str] = Counter()
        self.silent: set[str] = set()

    async def connected(self, namespace: str, cluster: str) -> Connected:
        del namespace
        silent = self

        class Line:
            async def page(self, *args: Any, **more: Any) -> tuple[list[Json], str]:
                silent.calls[cluster] += 1
                if cluster in silent.silent:
                    await asyncio.Event().wait()
                return await silent.scene.workload.page(*args, **more)

        return cast(Connected, Line())


@pytest.mark.parametrize("known", [True, False], ids=["read before", "new"])
async def test_silent_clusters_hold_up_no_other_one(
    reading: Reading, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    """Twenty: one that answered is read as ever, a new one when some have had their time; no look waits for them."""
    monkeypatch.setattr(workload_reports, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(workload_reports, "_ANSWER_SECONDS", 30.0 if known else 0.01)
    clusters = Silent(reading.scene)
    reports = WorkloadReports(cast(Workloads, clusters), lambda: reading.machines, lambda: reading.scene.now)
    if known:
        await reports.look()
    dead = [f"dead-{number}" for number in range(20)]
    clusters.silent.update(dead)
    reading.machines[:] = [replace(MACHINE, cluster=name, name=name, bundle_id=name) for name in dead] + [MACHINE]
    clusters.calls.clear()
    async with asyncio.timeout(25):
        while clusters.calls[CLUSTER] < 3:
            await reports.look()
    if known:
        assert sum(clusters.calls[name] for name in dead) == 3


@dataclass
class Endless:
    """A cluster with as many objects as are read, each with other text in it."""

    text: str

    async def page(self, *_: object, size: int, token: str = "") -> tuple[list[Json], str]:
        first = int(token or 0)
        return [
            {
                "metadata": {"name": f"n{number}", "uid": f"u{number}", "creationTimestamp": "2026-11-01T12:00:00Z"},
                "data": {"events": f"{number} {self.text}"},
            }
            for number in range(first, first + size)
        ], str(first + size)

    async def connected(self, *_: object) -> "Endless":
        return self


@pytest.mark.parametrize("text", ["\U0001f600" + "x" * 8000, "\U0001f600" + COMPLETE.decode()])
async def test_what_a_cluster_holds_is_not_held_here(
    reading: Reading, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Texts of 8000 characters of four bytes each, as one of them is no ASCII: of 32 KB, a hundred bytes are kept."""
    monkeypatch.setattr(workload_reports, "MOST", 100)
    monkeypatch.setattr(workload_reports, "_LOOK_SECONDS", 60.0)
    reading.machines[:] = [replace(MACHINE, cluster=f"c{number}") for number in range(5)]
    workloads = cast(Workloads, Endless(text))
    reports = WorkloadReports(workloads, lambda: reading.machines, lambda: reading.scene.now)
    await reports.look()
    kept = pickle.dumps([reports._texts, *map(reports._visits.state, reports._visits.places())])
    assert 500 * 16 < len(kept) < 500 * 100


async def test_what_was_read_of_all_clusters_has_a_bound(reading: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit is read again each time, with the same result; what is gone makes room."""
    reads: list[str] = []

    def note(text: str) -> dict[str, MachineReport]:
        reads.append(text)
        return reports_of(text)

    monkeypatch.setattr(workload_reports, "reports_of", note)
    reading.reports._texts = ReadTexts(5)
    for number in range(3):
        reading.put(FAILED.replace(b"20-kubeadm", f"{number}0-kubeadm".encode()), f"node-{number}")
    for _ in range(2):
        await reading.reports.look()
    assert (len(reads), reading.state()) == (4, FAILED_STATE)
    await reading.scene.workload.delete(CONFIG_MAPS, NAMESPACE, "node-0")
    for _ in range(3):
        await reading.reports.look()
    assert len(reads) == 6
    reading.machines.clear()
    for _ in range(2):
        await reading.reports.look()
    assert reading.reports._texts._size == 0


async def test_a_cluster_without_a_kubeconfig_is_left_out() -> None:
    """It is read as soon as it has one."""
    scene = Scene()
    scene.cluster()
    reading = Reading(scene)
    reading.put(BEGUN)
    await reading.reports.look()
    assert reading.state() is None
    scene.workload_ready()
    await reading.reports.look()
    assert reading.state() == UNFINISHED_STATE
