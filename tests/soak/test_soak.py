"""Half an hour in five minutes: machines come and go while certificates, provisioner, registry and API server change.

``SLIPWAY_SOAK_SECONDS=1800`` makes it half an hour; ``--log-cli-level=INFO`` shows what happens, and the figures.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import pytest

from tests.soak.churn import MOST_ALIVE, Churn
from tests.soak.installation import EMBEDDED, EXTERNAL, Installation
from tests.soak.line import Line
from tests.soak.usage import Usage
from tools.bench.cluster.fleet import CORE_FLAGS
from tools.cluster import providers
from tools.cluster.management import ManagementCluster
from tools.cluster.processes import Process
from tools.oracles.failures import EngineTimeout

LOG = logging.getLogger(__name__)
SECONDS = float(os.environ.get("SLIPWAY_SOAK_SECONDS", "300"))
pytestmark = [
    pytest.mark.engine,
    pytest.mark.long,
    pytest.mark.timeout(SECONDS * 10 + 3600),
    pytest.mark.xdist_group("soak"),
]

ROUNDS = max(4, min(15, round(SECONDS / 50)))
"""Each has every fault once, and ends with nothing to do."""
WARM = ROUNDS // 3
"""Rounds after which a process has all that it keeps: caches, threads, what each fault leaves once."""
_FLAT = 0.05
_PATIENCE = 300.0
_WAITS = 4
_STEADY = 20
"""Looks, a second apart, in which nothing changes at rest: longer than a client keeps idle connections."""


@pytest.fixture
def installation(engine: Callable[..., None]) -> Iterator[Installation]:
    """Give Slipway beside a management cluster whose core leaves machines alone."""
    engine("cluster")
    with ManagementCluster("1.14", only=(providers.CORE,), provider_flags=CORE_FLAGS) as cluster:
        made = Installation(cluster)
        made.start()
        yield made


def test_nothing_is_lost_and_nothing_grows(installation: Installation) -> None:
    """Each machine gets its user data; at rest the controller holds what it held after the first rounds.

    The controller is never started anew, so that what it holds is what it has kept of all machines. Memory is judged by
    a line through all rests over the number of machines: one rest alone says little, and time says nothing on a
    computer that is slow.
    """
    cluster = installation.cluster
    workload = cluster.workload_cluster("soak")
    # Its controllers sign the information of the cluster anew for each token, which is not what is measured here.
    workload.server.controllers.stop()
    churn = Churn(Line.ready(cluster, workload, "soak"))
    controller = installation.controller.process
    first = controller.pid
    _fill(churn, controller)
    rests: list[tuple[int, Usage]] = []
    for number in range(ROUNDS):
        _round(churn, _faults(installation), SECONDS / ROUNDS)
        rests.append((churn.created, _at_rest(installation, churn, rests[WARM - 1][1] if number >= WARM else None)))
        LOG.info("round %d: %d machines, then %s", number, *rests[-1])
        assert controller.pid == first, controller.tail()
    assert churn.finished.total() == churn.created
    assert churn.finished[EXTERNAL], "the provisioner that is killed made no user data"
    assert churn.finished[EMBEDDED]
    warm = rests[WARM - 1 :]
    assert grown(warm) <= _FLAT, [(machines, usage.rss_mib) for machines, usage in warm]
    assert "Traceback" not in controller.log.read_text(errors="replace")


@pytest.mark.parametrize(
    ("memory", "flat"),
    [
        ((100.0, 101.0, 100.0, 101.0), True),
        ((100.0, 104.0, 99.0, 102.0), True),
        ((100.0, 102.0, 104.0, 106.0), False),
        ((100.0, 107.0, 108.0, 107.0), False),
    ],
)
def test_the_line_tells_growth_from_noise(memory: tuple[float, ...], flat: bool) -> None:
    """Values that go up and down are flat, and those that only go up are not."""
    rests = [(1000 * number, Usage(value, held={})) for number, value in enumerate(memory)]  # type: ignore[arg-type]
    assert (grown(rests) <= _FLAT) is flat


def grown(rests: Sequence[tuple[int, Usage]]) -> float:
    """Give the part by which memory grew from the first rest to the last one, by a line through all of them."""
    machines = [float(created) for created, _ in rests]
    line = statistics.linear_regression(machines, [usage.rss_mib for _, usage in rests])
    start, end = (line.intercept + line.slope * created for created in (machines[0], machines[-1]))
    return end / start - 1


def _fill(churn: Churn, controller: Process) -> None:
    """Let the controller find as many machines at once as ever wait: what it needs for them it may keep."""
    controller.signal(signal.SIGSTOP)
    try:
        with churn.running():
            _wait_while(lambda: Counter(missing=max(0, MOST_ALIVE - churn.alive)), "machines are not created")
            controller.signal(signal.SIGCONT)
    finally:
        controller.signal(signal.SIGCONT)


def _round(churn: Churn, faults: Mapping[str, Callable[[], None]], seconds: float) -> None:
    """Let machines come and go for a time, with each fault in it, until all of them are gone."""
    with churn.running():
        for name, fault in faults.items():
            time.sleep(seconds / (len(faults) + 1))
            LOG.info("%s: %d machines, %d of them finished", name, churn.created, churn.finished.total())
            fault()
        time.sleep(seconds / (len(faults) + 1))


def _faults(installation: Installation) -> Mapping[str, Callable[[], None]]:
    processes, server = installation.processes, installation.cluster.server.api_server
    return {
        "new certificates": installation.renew,
        "provisioner killed": partial(_begin_anew, processes["provisioner"], Process.kill),
        "API server started anew": partial(_begin_anew, server, Process.stop),
        "registry killed": partial(_begin_anew, processes["registry"], Process.kill),
        "provisioner started anew": partial(_begin_anew, processes["provisioner"], Process.stop),
    }


def _begin_anew(process: Process, end: Callable[[Process], None]) -> None:
    """End a process and start it, however long a busy computer takes to make it ready."""
    end(process)
    for _ in range(_WAITS):
        with contextlib.suppress(EngineTimeout):
            process.start()
            return
    process.start()


def _at_rest(installation: Installation, churn: Churn, earlier: Usage | None) -> Usage:
    """Wait until nothing is left of machines, the controller has nothing to do, and holds no more than earlier."""
    controller = installation.controller
    _wait_while(churn.remaining, "objects are left of machines that are gone")
    _wait_while(controller.work, "the controller still has work with machines that are gone")
    if earlier is not None:
        _wait_while(lambda: controller.usage().more_than(earlier), "the controller holds more than at its first rest")
        return controller.usage()
    steady, usage = 0, controller.usage()
    deadline = time.monotonic() + _PATIENCE
    while steady < _STEADY and time.monotonic() < deadline:
        time.sleep(1.0)
        before, usage = usage, controller.usage()
        steady = steady + 1 if usage.held == before.held else 0
    return usage


def _wait_while(remaining: Callable[[], Mapping[str, float]], complaint: str) -> None:
    """Wait until nothing remains; that it becomes less is progress, and so is reason to wait on."""
    deadline, least = time.monotonic() + _PATIENCE, float("inf")
    while any((counts := remaining()).values()):
        if sum(counts.values()) < least:
            deadline, least = time.monotonic() + _PATIENCE, sum(counts.values())
        assert time.monotonic() < deadline, f"{complaint}: {dict(counts)}"
        time.sleep(1.0)
