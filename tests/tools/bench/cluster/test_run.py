"""The benchmark of bootstrap providers measures what it says, shown with a few machines."""

from collections.abc import Callable

import pytest

from tools.bench.cluster.contender import DEFAULT, KUBEADM
from tools.bench.cluster.run import Bench
from tools.cluster import providers
from tools.cluster.management import ManagementCluster


@pytest.mark.engine
@pytest.mark.timeout(400)
def test_a_run_counts_what_the_provider_did(engine: Callable[..., None]) -> None:
    """Every machine of both clusters gets its Secret by one token and some writes, and core has no part in it."""
    engine("cluster", "cluster-api-1.14-kubeadm-bootstrap")
    with ManagementCluster("1.14", only=(providers.CORE,)) as cluster:
        bench = Bench(cluster, cluster.workload_cluster("bench"))
        figures = bench.run(KUBEADM, DEFAULT, clusters=2, machines=2, name="few")
        assert not cluster.providers[providers.CORE].running
        assert len(cluster.client.list("v1", "Secret", namespace="few")) == 4 + 2 * 2
    assert figures.machines == 4
    assert 0 < figures.p50 <= figures.p99 <= figures.seconds
    assert figures.workload_writes == 1
    # The Secret, the spec and the status at least; at most twice what today's provider writes beside the token (seven),
    # since it writes again after each conflict.
    assert 3 <= figures.writes <= figures.writes + figures.writes_before <= 14
    assert figures.calls >= figures.writes
    assert figures.rss_mib > 10
