"""Half an hour in five minutes: machines come and go while certificates, provisioner, registry and API server change.

``SLIPWAY_SOAK_SECONDS=1800`` makes it half an hour; ``--log-cli-level=INFO`` shows what happens, and the figures.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import cycle

import pytest

from tests.soak.churn import Churn, Line
from tests.soak.installation import Installation, Usage
from tools.bench.cluster.fleet import CORE_FLAGS
from tools.cluster import providers
from tools.cluster.management import ManagementCluster

LOG = logging.getLogger(__name__)
SECONDS = float(os.environ.get("SLIPWAY_SOAK_SECONDS", "300"))
pytestmark = [
    pytest.mark.engine,
    pytest.mark.long,
    pytest.mark.timeout(SECONDS * 3 + 1800),
    pytest.mark.xdist_group("soak"),
]

_WARM = 0.25
"""Part of the time after which a process has all that it keeps: caches, threads, one fault of each kind."""
_FAULTS = 10
"""In the whole time."""
_SETTLED = 10.0
_FLAT = 1.05
_PATIENCE = 120.0


@pytest.fixture
def installation(engine: Callable[..., None]) -> Iterator[Installation]:
    """Give Slipway beside a management cluster whose core leaves machines alone."""
    engine("cluster")
    with ManagementCluster("1.14", only=(providers.CORE,), provider_flags=CORE_FLAGS) as cluster:
        made = Installation(cluster)
        made.start()
        yield made


def test_nothing_is_lost_and_nothing_grows(installation: Installation) -> None:
    """Each machine gets its user data; memory, files and threads at rest are those of the first quarter.

    The controller is never started anew, so that what it holds is what it has kept of all machines.
    """
    cluster = installation.cluster
    workload = cluster.workload_cluster("soak")
    workload.server.controllers.stop()
    churn = Churn(Line.ready(cluster, workload, "soak"))
    faults = cycle(_faults(installation).items())
    controller = installation.processes["controller"]
    first = controller.pid
    _work(churn, faults, SECONDS * _WARM)
    rest = _at_rest(installation)
    warm = churn.created
    _work(churn, faults, SECONDS * (1 - _WARM))
    end = _at_rest(installation)
    LOG.info("%d machines, %d of them after the first quarter", churn.created, churn.created - warm)
    LOG.info("the slowest took %.1f s; the controller at rest: %s, then %s", churn.slowest, rest, end)
    assert controller.pid == first, controller.tail()
    assert churn.finished == churn.created
    assert end.rss_mib <= rest.rss_mib * _FLAT
    assert end.files <= rest.files
    assert end.threads <= rest.threads
    assert "Traceback" not in controller.log.read_text(errors="replace")


def _work(churn: Churn, faults: Iterator[tuple[str, Callable[[], None]]], seconds: float) -> None:
    """Let machines come and go for a time, with a fault now and then, until all of them are gone."""
    thread = churn.run(seconds)
    number = max(1, round(_FAULTS * seconds / SECONDS))
    for _ in range(number):
        thread.join(seconds / (number + 1))
        if not thread.is_alive():
            break
        name, fault = next(faults)
        LOG.info("%s: %d machines, %d of them finished", name, churn.created, churn.finished)
        fault()
    thread.join()
    churn.check()


def _faults(installation: Installation) -> Mapping[str, Callable[[], None]]:
    processes, server = installation.processes, installation.cluster.server.api_server

    def kill(name: str) -> Callable[[], None]:
        def killed() -> None:
            processes[name].kill()
            processes[name].start()

        return killed

    return {
        "new certificates": installation.renew,
        "provisioner killed": kill("provisioner"),
        "API server started anew": server.restart,
        "registry killed": kill("registry"),
        "provisioner started anew": processes["provisioner"].restart,
    }


def _at_rest(installation: Installation) -> Usage:
    """Wait until every Secret of a machine is gone and the controller has seen it; give what the controller holds."""
    end = time.monotonic() + _PATIENCE
    client = installation.cluster.client
    while any(
        "SlipwayConfig" in str(secret["metadata"].get("ownerReferences")) for secret in client.list("v1", "Secret")
    ):
        assert time.monotonic() < end, "user data is left of machines that are gone"
        time.sleep(1.0)
    time.sleep(_SETTLED)
    return Usage.of(installation.processes["controller"])
