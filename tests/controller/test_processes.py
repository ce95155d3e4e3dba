"""All of it as processes: two controllers, a registry that keeps Leases, a provisioner that comes late."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from slipway.cli.processes import LOOPBACK
from slipway.contract.errors import Unauthenticated
from slipway.rpc.addresses import free_port
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.rpc.settings import ServerSettings
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import BootstrapServiceStub
from tests.controller import manifests
from tests.controller.site import Site, condition, has_data

pytestmark = [pytest.mark.engine, pytest.mark.timeout(500)]

LEASE = "slipway-controller.bootstrap.slipway.dev"
TAKEOVER_SECONDS = 20.0


@dataclass
class Processes:
    """Processes of this test, with their logs."""

    folder: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, module: str, *flags: str, insecure: bool = True) -> None:
        """Start a module as a program, without TLS unless told otherwise."""
        log = (self.folder / f"{name}.log").open("wb")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
        self.running[name] = subprocess.Popen(
            [sys.executable, "-m", module, *(["--insecure"] if insecure else []), "--log-format=json", *flags],
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
        )
        log.close()

    def log(self, name: str) -> str:
        """Give what a process has said."""
        return (self.folder / f"{name}.log").read_text(encoding="utf-8")

    def end(self) -> None:
        """End all that are left."""
        for process in self.running.values():
            process.kill()
            process.wait()


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """End with the test, whatever becomes of it."""
    made = Processes(tmp_path)
    yield made
    made.end()


async def test_a_killed_leader_is_followed(site: Site, processes: Processes) -> None:
    """Provisioner late, leader killed, user data by Machine, an orderly end."""
    registry, provisioner = f"{LOOPBACK}:{free_port()}", f"{LOOPBACK}:{free_port()}"
    addresses = {name: f"{LOOPBACK}:{free_port()}" for name in ("one", "two")}
    processes.start("registry", "slipway.registry", f"--listen-address={registry}")
    for name, address in addresses.items():
        processes.start(
            name,
            "slipway.controller",
            f"--listen-address={address}",
            f"--registry-address={registry}",
            f"--kubeconfig={site.kubeconfig}",
            f"--namespaces={site.namespace}",
            f"--lease-namespace={manifests.NAMESPACE}",
            f"--workload-servers={LOOPBACK}/8",
        )
    await site.cluster()
    await site.workers("pool", {"provisioner": {"name": "cloud-init"}})
    await site.configs(1, lambda one: condition(one).get("reason") == "WaitingForProvisioner")
    processes.start(
        "provisioner",
        "slipway.provisioners.cloud_init",
        f"--listen-address={provisioner}",
        f"--registry-address={registry}",
    )
    (machine,) = await site.machines("pool", 1, has_data)

    leader, before = await _leader(processes), await _holder(site)
    processes.running[leader].send_signal(signal.SIGKILL)
    killed = time.monotonic()
    await site.eventually(lambda: _holder(site), lambda holder: holder not in {"", before})
    assert time.monotonic() - killed < TAKEOVER_SECONDS
    follower = next(name for name in addresses if name != leader)
    await site.patch("cluster.x-k8s.io/v1beta2", "MachineDeployment", "pool", {"spec": {"replicas": 2}})
    await site.machines("pool", 2, has_data)

    name = machine["metadata"]["name"]
    answer = await _asked(addresses[follower], site, name, token=_token(site))
    assert answer.user_data == await site.secret(name)
    assert answer.format == "cloud-config"
    with pytest.raises(Unauthenticated):
        await _asked(addresses[follower], site, name, token="")

    processes.running[follower].send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(processes.running[follower].wait, 60) == 0
    assert not await _holder(site), "the lease is given back"
    canary = (await site.secret(name)).decode().splitlines()[5]
    for one in addresses:
        assert "Traceback" not in processes.log(one)
        assert canary not in processes.log(one)


async def _leader(processes: Processes) -> str:
    async with asyncio.timeout(60):
        while True:
            for name in ("one", "two"):
                if '"event": "leader election won"' in processes.log(name):
                    return name
            await asyncio.sleep(0.1)


async def _holder(site: Site) -> str:
    found = await asyncio.to_thread(
        site.environment.client.find, "coordination.k8s.io/v1", "Lease", LEASE, namespace=manifests.NAMESPACE
    )
    return str(((found or {}).get("spec") or {}).get("holderIdentity") or "")


async def _asked(address: str, site: Site, machine: str, *, token: str) -> bootstrappb.GetUserDataResponse:
    channels = ChannelPool.of(ServerSettings(insecure=True, listen_address=f"{LOOPBACK}:0"))
    request = bootstrappb.GetUserDataRequest()
    request.machine_reference.namespace, request.machine_reference.name = site.namespace, machine
    try:
        stub = BootstrapServiceStub(channels.get(address))
        return await invoke(_with_token(stub.GetUserData, token), request, timeout=30)
    finally:
        await channels.close()


def _with_token(call: Callable[..., object], token: str) -> Callable[..., object]:
    return lambda request, **more: call(
        request, **{**more, "metadata": (*(more.get("metadata") or ()), ("authorization", token))} if token else more
    )


def _token(site: Site) -> str:
    return f"Bearer {site.environment.token_of_account(manifests.NAMESPACE, manifests.ACCOUNT, audience='slipway')}"
