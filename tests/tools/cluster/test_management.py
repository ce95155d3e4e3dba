"""Ending, killing and starting again, on an environment of the test's own: nobody else may use it meanwhile."""

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.cluster.machines import left_of, running, worker_of
from tools.cluster import providers
from tools.cluster.failures import ProcessEnded
from tools.cluster.management import ManagementCluster
from tools.cluster.topology import Topology
from tools.oracles.failures import EngineMissing

pytestmark = [pytest.mark.engine, pytest.mark.timeout(400)]


def test_everything_can_be_killed_and_started_again(engine: Callable[..., None]) -> None:
    """A cluster runs although API server, etcd and providers were killed on its way; then nothing is left."""
    engine("cluster")
    only = (providers.CORE, providers.KUBEADM_BOOTSTRAP, providers.FAKE_INFRASTRUCTURE)
    with ManagementCluster("1.14", only=only) as cluster:
        workload = cluster.workload_cluster("killed")
        topology = Topology("killed")
        control_plane = cluster.providers[providers.KUBEADM_CONTROL_PLANE]
        assert not control_plane.running
        control_plane.start()
        cluster.apply(
            [
                workload.authority_secret(),
                *topology.cluster(endpoint=workload.endpoint),
                *topology.kubeadm_control_plane(),
                *topology.workers(),
            ]
        )
        for process in (cluster.server.api_server, cluster.server.etcd):
            pid = process.pid
            process.kill()
            process.start()
            assert process.pid != pid
        cluster.server.api_server.wait_ready()
        cluster.providers[providers.CORE].kill()
        with pytest.raises(ProcessEnded):
            assert cluster.providers[providers.CORE].pid
        cluster.providers[providers.CORE].start()
        cluster.providers[providers.KUBEADM_BOOTSTRAP].restart()
        running(cluster, worker_of(cluster, "killed-workers", "default"), "default")
        directory, pids = cluster.directory, [provider.pid for provider in cluster.providers.values()]
        assert len(left_of(directory)) > len(pids)
    assert not directory.exists()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert left_of(directory) == []


def test_a_bare_api_server_is_enough_for_some(engine: Callable[..., None]) -> None:
    """Without Cluster API it is there in seconds, and a role is all that a service account has."""
    engine("cluster")
    with ManagementCluster(None) as cluster:
        assert cluster.providers == {}
        cluster.server.api_server.signal(signal.SIGSTOP)
        cluster.server.api_server.signal(signal.SIGCONT)
        kubectl = ["kubectl", f"--kubeconfig={cluster.kubeconfig_of_account('somewhere', 'nobody')}"]
        done = subprocess.run(
            [*kubectl, "auth", "can-i", "list", "secrets"],
            env=cluster.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.stdout.strip() == "no", done.stderr
        whoami = subprocess.run(
            [*kubectl, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"],
            env=cluster.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert whoami.stdout == "system:serviceaccount:somewhere:nobody", whoami.stderr


def test_missing_programs_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing was built, the error says what to build, and nothing was started."""
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path))
    with pytest.raises(EngineMissing, match=r"tools\.oracles\.build kubebox"), ManagementCluster(None):
        pass
    assert list((tmp_path / "clusters").iterdir()) == []
