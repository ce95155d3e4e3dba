"""The benchmark of bootstrap providers measures what it says, shown with a few machines."""

from collections.abc import Callable

import pytest

from tools.bench.cluster.contender import DEFAULT, KUBEADM, UNTHROTTLED, Contender, Limits
from tools.bench.cluster.fleet import CORE_FLAGS
from tools.bench.cluster.run import Bench, Figures
from tools.bench.cluster.slipway import SLIPWAY
from tools.cluster import providers
from tools.cluster.management import ManagementCluster


@pytest.mark.engine
@pytest.mark.timeout(400)
def test_a_run_counts_what_a_provider_did(engine: Callable[..., None]) -> None:
    """Every machine of both clusters gets its Secret by one token and some writes, and core has no part in it."""
    engine("cluster", "cluster-api-1.14-kubeadm-bootstrap")
    with ManagementCluster("1.14", only=(providers.CORE,), provider_flags=CORE_FLAGS) as cluster:
        bench = Bench(cluster, cluster.workload_cluster("bench"))
        theirs = _few(bench, KUBEADM, DEFAULT, "theirs")
        ours = _few(bench, SLIPWAY, UNTHROTTLED, "ours")
    # The Secret, the spec and the status at least; at most twice what today's provider writes beside the token (seven),
    # since it writes again after each conflict.
    assert 3 <= theirs.writes <= theirs.writes + theirs.writes_before <= 14
    # The Secret and the status, and what a machine that waits is told.
    assert 2 <= ours.writes <= ours.writes + ours.writes_before <= 4
    assert (ours.provider, ours.limits) == (SLIPWAY.name, UNTHROTTLED.name)


def _few(bench: Bench, contender: Contender, limits: Limits, name: str) -> Figures:
    """A run with four machines, and what holds of any."""
    figures = bench.run(contender, limits, clusters=2, machines=2, name=name)
    assert not bench.cluster.providers[providers.CORE].running
    made = {one["metadata"]["name"] for one in bench.cluster.client.list("v1", "Secret", namespace=name)}
    assert {f"{name}-{cluster}-{number}" for cluster in range(2) for number in range(2)} <= made
    assert figures.machines == 4
    assert 0 < figures.p50 <= figures.p99 <= figures.seconds
    assert figures.workload_writes == 1
    assert figures.calls >= figures.writes
    assert figures.rss_mib > 10
    assert figures.others_cpu > 0
    return figures
