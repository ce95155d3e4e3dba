"""All services as processes of their own, over loopback as in production, with its lease times; waits have bounds."""

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from typing import Any

import yaml

from slipway.cli.processes import LOOPBACK, LocalServices, Process
from slipway.cli.readiness import local_connection
from slipway.cli.remote import RemoteBackend
from slipway.contract.errors import SlipwayError
from slipway.rpc.addresses import free_port
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import BootstrapServiceStub

FAKE = "slipway.fake_provisioner"
RENDER_SECONDS = 2.0
START_SECONDS = 120.0
BACK_SECONDS = 15.0
READY = registrypb.INSTANCE_STATE_READY


class Site:
    """All processes, and a connection to them."""

    def __init__(self, services: LocalServices) -> None:
        self.services = services
        self.backend = RemoteBackend(local_connection(services))
        self.channels = ChannelPool(tls=None, trust_domain="slipway")
        self._numbers = itertools.count()

    async def registry(self) -> Process:
        """Start the registry, with the lease times of production."""
        return await self.services.run("registry", "slipway.registry", self.services.registry)

    async def provisioner(self, name: str, version: str = "1.0.0", **script: Any) -> Process:
        """Start a fake with a script, and wait until it is listed as ready."""
        process = await self.start(name, version, **script)
        await until(lambda: self._is_listed(process), START_SECONDS)
        return process

    async def start(self, name: str, version: str = "1.0.0", *, registry: str = "", **script: Any) -> Process:
        """Start a fake with a script; `registry` is another one than the site's."""
        features = ["os.files", "os.links", "plan.entrypoint"]
        label = f"{name}-{next(self._numbers)}"
        path = self.services.logs / f"{label}.yaml"
        path.write_text(yaml.safe_dump({"name": name, "version": version, "features": features, **script}), "utf-8")
        flags = ["--script", str(path), "--registry-address", registry or self.services.registry]
        return await self.services.run(label, FAKE, f"{LOOPBACK}:{free_port()}", *flags)

    def log(self, process: Process) -> list[dict[str, Any]]:
        """What a fake has logged."""
        text = (self.services.logs / f"{process.name}.log").read_text("utf-8")
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    async def ready(self) -> dict[str, str]:
        """Give the instance ids of those that are ready, by address; none while the registry is away."""
        try:
            return {
                provisioner.endpoint: provisioner.instance_id
                for provisioner in await self.backend.provisioners()
                if provisioner.state == READY
            }
        except (SlipwayError, ConnectionError):
            return {}

    async def _is_listed(self, process: Process) -> bool:
        return process.address in await self.ready()

    async def ask(self, name: str, *, version: str = "", link: bool = False) -> bootstrappb.GetUserDataResponse:
        """Ask for user data."""
        return await self.backend.user_data(request(name, version=version, link=link))

    async def once(self, name: str) -> bootstrappb.GetUserDataResponse:
        """Ask for user data, and leave it at the first answer: gRPC itself would repeat the call."""
        async with self.channels.once(self.services.bootstrapper) as channel:
            return await invoke(BootstrapServiceStub(channel).GetUserData, request(name), timeout=START_SECONDS)

    async def answers(self) -> bool:
        """Whether the bootstrapper is there, whatever it says."""
        try:
            await self.ask("nobody")
        except ConnectionError:
            return False
        except SlipwayError:
            return True
        return True

    async def serves(self, name: str) -> None:
        """Wait until the bootstrapper knows a provisioner."""

        async def answers() -> bool:
            try:
                await self.ask(name)
            except (SlipwayError, ConnectionError):
                return False
            return True

        await until(answers, START_SECONDS)


async def until(condition: Callable[[], Awaitable[bool]], seconds: float) -> float:
    """Wait for a condition, and give the seconds that it took."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    while not await condition():
        assert loop.time() - started < seconds, f"not within {seconds} seconds"
        await asyncio.sleep(0.05)
    return loop.time() - started


def request(name: str, *, version: str = "", link: bool = False) -> bootstrappb.GetUserDataRequest:
    """Give the request for a worker by a provisioner."""
    asked = bootstrappb.GetUserDataRequest()
    asked.subject.cluster.CopyFrom(clusterpb.Cluster(name="c", kubernetes_version="v1.34.2", endpoint={"host": "h"}))
    asked.subject.machine.CopyFrom(clusterpb.Machine(name="m", role=clusterpb.ROLE_WORKER))
    asked.subject.spec.provisioner.name = name
    if version:
        asked.subject.spec.provisioner.version = version
    if link:
        asked.subject.spec.os.links.append(ospb.Link(path="/etc/link", target="x"))
    return asked
