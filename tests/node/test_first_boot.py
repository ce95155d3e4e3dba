"""One Ready node by each first-boot system: a control plane by cloud-init, and a worker by Ignition that joins it."""

from pathlib import Path

import pytest

from tests.node.readiness import wait_ready
from tools.node.first_disk import FirstBoot

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1200)]

SECONDS = 300.0


def test_a_worker_discovers_the_cluster_by_a_file(harbour):
    """The kubeconfig of the spec names cluster and authority; the keys of the cluster are elliptic."""
    first = harbour.control_plane
    shown = ["-o", "jsonpath={.data.kubeconfig}"]
    kubeconfig = first.run(["kubectl", "-n", "kube-public", "get", "configmap", "cluster-info", *shown])
    token = first.run(["kubeadm", "token", "create"]).output.strip()
    discovery = {
        "file": {"path": "/etc/kubernetes/discovery.conf", "kubeconfig": {"text": kubeconfig.output}},
    }
    options = {"kubeadm": {"tlsBootstrapToken": {"value": token}}}
    worker = harbour.worker(
        "by-file", by=FirstBoot.IGNITION, kubernetes={"discovery": discovery}, engineOptions=options
    )
    worker.wait_sentinel(timeout=SECONDS)
    wait_ready(first, "by-file")
    assert "prime256v1" in first.run(["openssl", "ec", "-in", "/etc/kubernetes/pki/ca.key", "-noout", "-text"]).output
    assert Path(worker.disk / "etc/kubernetes/discovery.conf").exists()
