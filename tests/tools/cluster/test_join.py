"""Machines that Slipway renders join a real API server: discovery by token, CA pin and signature, and TLS bootstrap."""

import base64
import datetime as dt
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.oracles.machines import boot_cloud_init, boot_ignition
from tools.cluster.administration import Administration
from tools.cluster.keeper import Kept

pytestmark = [pytest.mark.engine, pytest.mark.timeout(400)]

TOKEN = "abcdef.0123456789abcdef"
_CLUSTER = "joined"
_PROVISIONERS = {"cloud-init": "cloud-init.yaml", "ignition": "ignition.ign"}


def document(workload: Administration) -> str:
    """A worker in Slipway's own words, for the cluster behind the API server."""
    host, port = workload.endpoint
    return yaml.safe_dump_all(
        [
            {
                "apiVersion": "bootstrap.slipway.dev/v1alpha1",
                "kind": "SlipwayCluster",
                "metadata": {"name": _CLUSTER},
                "spec": {
                    "cluster": {"kubernetesVersion": "v1.34.2", "endpoint": {"host": host, "port": port}},
                    "machines": [{"name": "worker", "role": "Worker", "config": "worker"}],
                },
            },
            {
                "apiVersion": "bootstrap.slipway.dev/v1alpha1",
                "kind": "SlipwayConfig",
                "metadata": {"name": "worker"},
                "spec": {"kubernetes": {"node": {"labels": [{"name": "example.com/pool", "value": "general"}]}}},
            },
        ]
    )


def render(folder: Path, workload: Administration, *, provisioner: str) -> bytes:
    """The worker's user data, with the credentials of the cluster behind the API server in place of new ones."""
    spec, credentials = folder / "spec.yaml", folder / "credentials"
    spec.write_text(document(workload))
    command = [
        sys.executable, "-m", "slipway.cli", "render", "-f", str(spec), "--provisioner", provisioner,
        "--credentials", str(credentials), "-o", str(folder / "out"),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    (stored,) = credentials.rglob("credentials.json")
    kept = json.loads(stored.read_text())
    pair = workload.authority.pair
    values = {
        ("slipway.dev/cluster-ca", "tls.crt"): pair.certificate,
        ("slipway.dev/cluster-ca", "tls.key"): pair.key,
        ("slipway.dev/bootstrap-token", "token"): TOKEN.encode(),
    }
    for secret in kept["secrets"]:
        value = values.pop((secret["name"], secret["key"]), None)
        if value is not None:
            secret["value"] = base64.b64encode(value).decode()
    assert not values
    stored.write_text(json.dumps(kept))
    subprocess.run(command, check=True, capture_output=True)
    return (folder / "out" / "worker" / _PROVISIONERS[provisioner]).read_bytes()


def allow(workload: Administration) -> None:
    """Make the token known, as a controller does."""
    identity, secret = TOKEN.split(".")
    expiration = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
    workload.client.apply(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "bootstrap.kubernetes.io/token",
            "metadata": {"name": f"bootstrap-token-{identity}", "namespace": "kube-system"},
            "stringData": {
                "token-id": identity,
                "token-secret": secret,
                "expiration": expiration.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "usage-bootstrap-authentication": "true",
                "usage-bootstrap-signing": "true",
                "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
            },
        }
    )
    workload.client.until(
        "v1",
        "ConfigMap",
        "cluster-info",
        lambda one: f"jws-kubeconfig-{identity}" in one["data"],
        namespace="kube-public",
    )


def read_by_kubeadm(user_data: bytes, provisioner: str) -> bytes:
    """What kubeadm is given on a machine that boots from the user data."""
    if provisioner == "cloud-init":
        state = boot_cloud_init(user_data)
    else:
        state = boot_ignition(user_data, unit="slipway-bootstrap.service")
    (call,) = [one for one in state.calls if one.argv[0] == "kubeadm"]
    return call.stdin


@pytest.mark.parametrize("provisioner", _PROVISIONERS)
def test_a_rendered_worker_joins(provisioner: str, newest: Kept, tmp_path: Path, engine) -> None:
    """From spec to kubeadm: render, boot, and join with the documents that kubeadm found on the booted machine."""
    engine("root-trixie", "ignition")
    workload = newest.workload_administration
    documents = read_by_kubeadm(render(tmp_path, workload, provisioner=provisioner), provisioner)
    allow(workload)
    join = newest.environment.dry_run_join(documents)
    assert join.succeeded, join.output
    assert "This node has joined the cluster" in join.output
    assert "example.com/pool=general" in join.output


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("caCertHashes",), ["sha256:" + 64 * "0"], "the pin is not that of the cluster's CA"),
        (("token",), "abcdef.fedcba9876543210", "the signature was not made with this token"),
    ],
)
def test_wrong_data_does_not_join(
    path: tuple[str, ...], value: object, reason: str, newest: Kept, tmp_path: Path
) -> None:
    """The check can fail: discovery is a real one."""
    workload = newest.workload_administration
    allow(workload)
    user_data = yaml.safe_load(render(tmp_path, workload, provisioner="cloud-init"))
    (config,) = [
        write_file for write_file in user_data["write_files"] if write_file["path"] == "/etc/slipway/kubeadm.yaml"
    ]
    (join,) = [one for one in yaml.safe_load_all(config["content"]) if one]
    join["discovery"]["bootstrapToken"][path[0]] = value
    join["timeouts"] = {"discovery": "3s"}
    join["discovery"]["tlsBootstrapToken"] = TOKEN
    outcome = newest.environment.dry_run_join(yaml.safe_dump(join).encode())
    assert not outcome.succeeded, reason
