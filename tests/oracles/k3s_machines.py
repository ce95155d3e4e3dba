"""Machines of cluster-api-k3s, by its own template and by the example that asks Slipway, each booted once."""

import base64
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from slipway.cli.processes import LOOPBACK
from slipway.rpc.addresses import free_port
from tests.oracles import cluster
from tests.oracles.machines import RECORDED
from tools.oracles import cloud_init, fakes, ignition, k3s_provider
from tools.oracles.cloud_init import MachineFacts
from tools.oracles.go_examples import EXAMPLES
from tools.oracles.machine_state import MachineState
from tools.oracles.sandbox import File

MACHINES: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("k3s_machines.yaml").read_text(encoding="utf-8")
)
TOKEN = "0123456789abcdef0123456789abcdef"
UNIT = "slipway-bootstrap.service"
_CLUSTER = "tern"
_TARGET = ("--distribution=debian", "--os-version=13", "--infrastructure=openstack")
_INSTANCE_ID = "0b7a1c7e-3c5f-4a52-9f0e-5b1d0a8f1c11"
"""In the form that OpenStack gives."""
_OWNER = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "uid": "m-1", "controller": True}


@dataclass(frozen=True)
class Answer:
    """What the example's program has printed, and how it ended."""

    data: bytes
    said: str
    status: int


def manifests(name: str) -> bytes:
    """What the provider's controller reads from the management cluster for a machine."""
    machine = MACHINES[name]
    labels = {"cluster.x-k8s.io/cluster-name": _CLUSTER}
    if machine.get("controlPlane"):
        labels["cluster.x-k8s.io/control-plane"] = ""
    there = {"type": "ControlPlaneInitialized", "status": str(machine.get("cluster", True))}
    reference = {"apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KThreesConfig", "name": name}
    documents = [
        {
            **_meta("cluster.x-k8s.io/v1beta1", "Cluster", _CLUSTER),
            "spec": {"controlPlaneEndpoint": {"host": "api.tern.example.com", "port": 6443}},
            "status": {
                "infrastructureReady": True,
                "conditions": [{**there, "lastTransitionTime": "2026-01-01T00:00:00Z"}],
            },
        },
        {
            **_meta("cluster.x-k8s.io/v1beta1", "Machine", name, uid="m-1", labels=labels),
            "spec": {
                "clusterName": _CLUSTER,
                "version": "v1.32.3+k3s1",
                "bootstrap": {"configRef": reference},
                "infrastructureRef": {**reference, "kind": "GenericMachine"},
            },
        },
        {
            **_meta(reference["apiVersion"], reference["kind"], name, ownerReferences=[{**_OWNER, "name": name}]),
            "spec": machine.get("spec", {}),
        },
        *_secrets(),
    ]
    return yaml.safe_dump_all(documents).encode()


def _meta(version: str, kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "default", **more}}


def _secrets() -> Iterator[dict[str, Any]]:
    pki = cluster.pki()
    pair = {"tls.crt": pki["ca.crt"], "tls.key": pki["ca.key"]}
    values = {"token": {"value": TOKEN}, "extra": {"text": "s3cret\n", "encoded": "AAEC"}}
    values |= dict.fromkeys(("ca", "cca", "etcd"), pair)
    for name, value in values.items():
        data = {key: base64.b64encode(text.encode()).decode() for key, text in value.items()}
        yield {**_meta("v1", "Secret", f"{_CLUSTER}-{name}"), "data": data}


@contextmanager
def bootstrapper(folder: Path) -> Iterator[str]:
    """`slipway up`, and the address of its bootstrapper."""
    port = free_port()
    with (
        (folder / "up.log").open("wb") as log,
        subprocess.Popen([sys.executable, "-m", "slipway.cli", "up", f"--port={port}"], stdout=log, stderr=log) as up,
    ):
        try:
            deadline = time.monotonic() + 180
            while b"everything is up" not in (folder / "up.log").read_bytes():
                assert up.poll() is None, (folder / "up.log").read_text(encoding="utf-8")
                assert time.monotonic() < deadline
                time.sleep(0.1)
            yield f"{LOOPBACK}:{port + 1}"
        finally:
            up.terminate()


def ask(address: str, name: str, provisioner: str, *more: str, given: bytes = b"") -> Answer:
    """Run the example's program on a machine."""
    command = [
        str(EXAMPLES["bootstrap-provider-go"].require()),
        f"--server={address}",
        f"--provisioner={provisioner}",
        *(more or _TARGET),
    ]
    done = subprocess.run(command, input=given or manifests(name), capture_output=True, check=False, timeout=60)
    return Answer(done.stdout, done.stderr.decode(), done.returncode)


@cache
def today(name: str, *, curl: int = 0) -> MachineState:
    """The machine that the provider's own template makes."""
    return boot_cloud_init(k3s_provider.render(manifests(name)), curl=curl)


def boot_cloud_init(user_data: bytes, *, curl: int = 0) -> MachineState:
    """Have the real cloud-init boot a machine on which the install script of k3s records how it was called."""
    facts = MachineFacts(_INSTANCE_ID, local_hostname="node0", meta_data={"hostname": "node0"})
    return cloud_init.run(user_data, root="trixie", machine=facts, extra_files=_files(curl))


def boot_ignition(config: bytes) -> MachineState:
    """Have the real Ignition set up the same machine."""
    return ignition.run(config, extra_files=_files(0), start=(UNIT,))


def _files(curl: int) -> dict[str, File]:
    script = 'record install "$INSTALL_K3S_VERSION" "$@"\n' if not curl else f"record install; exit {curl}\n"
    given = fakes.command("curl", stdout=script)
    for command in RECORDED:
        given |= fakes.command(command)
    return given
