"""A controller in this process on a real API server with a real Cluster API, in a namespace of the test's own.

It has the role of deploy/kubernetes and no more. The provisioners are objects in this process; that they may as well be
other processes is proved in test_processes.py.
"""

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import yaml

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.controller.assembly import Assembled, assemble, connect_to
from slipway.controller.timeouts import Timeouts
from slipway.controller.workload import Connect
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.kubernetes_api.api import Api
from slipway.kubernetes_api.connection import Connection
from slipway.kubernetes_api.destinations import Destinations
from slipway.kubernetes_api.objects import Objects
from tools.cluster.administration import Administration
from tools.cluster.environment import Environment
from tools.cluster.failures import Refused
from tools.cluster.topology import CORE, Topology

Object = dict[str, Any]
T = TypeVar("T")

OURS = "bootstrap.slipway.dev/v1alpha1"
CLUSTER = "one"
PATIENCE = 120.0
_BUSY = 429


@dataclass
class Site:
    """A namespace, and what a test does in it."""

    environment: Environment
    workload: Administration
    namespace: str
    kubeconfig: Path
    topology: Topology = field(init=False)
    running: Assembled | None = None

    def __post_init__(self) -> None:
        self.topology = Topology(CLUSTER, namespace=self.namespace)

    @contextlib.asynccontextmanager
    async def controller(
        self,
        *,
        bootstrapper: Bootstrapper | None = None,
        wrap: Callable[[Api], Objects] | None = None,
        timeouts: Timeouts | None = None,
        opt_in: bool = False,
        dial: Connect | None = None,
    ) -> AsyncIterator[Assembled]:
        """Run a controller for the namespace; `wrap` puts something between it and its calls."""
        connection = await Connection.of_process(self.kubeconfig)
        api = Api(connection)
        parts = assemble(
            api,
            bootstrapper or embedded_bootstrapper(store=None),
            namespaces=[self.namespace],
            objects=wrap(api) if wrap else None,
            timeouts=timeouts or Timeouts(token_ttl=timedelta(minutes=15), quiet_seconds=0.5),
            opt_in=opt_in,
            dial=dial or connect_to(Destinations(["127.0.0.0/8"])),  # where the API servers of tests listen
        )
        parts.controller.follow()
        work = asyncio.ensure_future(parts.controller.lead(None))
        self.running = parts
        try:
            yield parts
        finally:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work
            await parts.controller.stop()
            await connection.close()

    async def cluster(
        self, *, initialized: bool = True, control_plane: bool = False, endpoint: tuple[str, int] | None = None
    ) -> None:
        """Make a Cluster whose API server is the workload's; without a provider of its control plane unless said."""
        made = self.topology.cluster(endpoint=endpoint or self.workload.endpoint, control_plane=control_plane)
        secrets = [self.workload.authority_secret(CLUSTER, namespace=self.namespace)]
        if not control_plane:
            # Otherwise the control plane's provider makes it.
            secrets.append(self.workload.kubeconfig_secret(CLUSTER, namespace=self.namespace))
        await self.apply(*secrets, *made)
        if initialized:
            await self.until(
                CORE, "Cluster", CLUSTER, lambda one: _initialization(one).get("infrastructureProvisioned")
            )
            patch = {"status": {"initialization": {"controlPlaneInitialized": True}}}
            await asyncio.to_thread(
                self.environment.client.patch, self._named(CORE, "Cluster", CLUSTER), patch, subresource="status"
            )

    async def apply(self, *objects: Object) -> None:
        """Apply objects."""
        await asyncio.to_thread(self.environment.apply, list(objects))

    async def workers(self, name: str, spec: Object, *, replicas: int = 1) -> None:
        """Make a MachineDeployment with a template of ours."""
        template = {
            "apiVersion": OURS,
            "kind": "SlipwayConfigTemplate",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {"template": {"spec": joining(spec)}},
        }
        await self.apply(*self.topology.workers(template, name=name, replicas=replicas))

    async def get(self, api_version: str, kind: str, name: str) -> Object:
        """Read an object."""
        return await asyncio.to_thread(self.environment.client.get, api_version, kind, name, namespace=self.namespace)

    async def find(self, api_version: str, kind: str, name: str) -> Object | None:
        """Read an object, or give None."""
        return await asyncio.to_thread(self.environment.client.find, api_version, kind, name, namespace=self.namespace)

    async def all(self, api_version: str, kind: str, *, selector: str = "") -> list[Object]:
        """Read all objects of a kind in the namespace."""
        return await asyncio.to_thread(
            self.environment.client.list, api_version, kind, namespace=self.namespace, selector=selector
        )

    async def patch(self, api_version: str, kind: str, name: str, change: Object, *, subresource: str = "") -> None:
        """Change an object by a merge patch."""
        named = self._named(api_version, kind, name)
        await asyncio.to_thread(self.environment.client.patch, named, change, subresource=subresource)

    async def delete(self, api_version: str, kind: str, name: str) -> None:
        """Delete an object."""
        await asyncio.to_thread(self.environment.client.delete, self._named(api_version, kind, name))

    async def until(self, api_version: str, kind: str, name: str, true: Callable[[Object], object]) -> Object:
        """Wait until something is true of an object."""
        return await asyncio.to_thread(
            self.environment.client.until,
            api_version,
            kind,
            name,
            true,
            namespace=self.namespace,
            seconds=PATIENCE,
        )

    async def machines(self, pool: str, count: int, true: Callable[[Object], object]) -> list[Object]:
        """Wait until so many Machines of a MachineDeployment are there, and something is true of each."""
        return await self.eventually(
            lambda: self.all(CORE, "Machine", selector=f"pool={pool}"),
            lambda found: len(found) == count and all(true(one) for one in found),
        )

    async def configs(self, count: int, true: Callable[[Object], object]) -> list[Object]:
        """Wait until so many SlipwayConfigs are there, and something is true of each."""
        return await self.eventually(
            lambda: self.all(OURS, "SlipwayConfig"),
            lambda found: len(found) == count and all(true(one) for one in found),
        )

    async def eventually(self, read: Callable[[], Any], true: Callable[[Any], object]) -> Any:
        """Read until something is true of what was read."""
        found = None
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    try:
                        found = await read()
                    except Refused as refused:
                        # A kind that was just defined is not served at once.
                        if refused.status != _BUSY:
                            raise
                    else:
                        if true(found):
                            return found
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise AssertionError(f"not so after {PATIENCE:.0f} s: {yaml.safe_dump(found)[-3000:]}") from None

    async def secret(self, name: str, key: str = "value") -> bytes:
        """Read a value of a Secret."""
        found = await self.get("v1", "Secret", name)
        return base64.b64decode(found["data"][key])

    def _named(self, api_version: str, kind: str, name: str) -> Object:
        return {
            "apiVersion": api_version,
            "kind": kind,
            "metadata": {"name": name, "namespace": self.namespace},
        }


def joining(spec: Object) -> Object:
    """Give a spec that names its engine: the clusters here have no control plane from which it could be known."""
    if spec.get("provisioner", {}).get("name") == "talos":
        return spec  # It takes none.
    return {**spec, "kubernetes": {"engine": "kubeadm", **spec.get("kubernetes", {})}}


def condition(item: Object, type_: str = "Ready") -> Object:
    """Give a condition, {} when it is not there."""
    found = (item.get("status") or {}).get("conditions") or ()
    return next((one for one in found if one["type"] == type_), {})


def has_data(machine: Object) -> bool:
    """Whether a Machine has taken its data Secret."""
    return bool(machine["spec"]["bootstrap"].get("dataSecretName"))


def runs(machine: Object) -> bool:
    """Whether a Machine's node is there."""
    return (machine.get("status") or {}).get("phase") == "Running"


def _initialization(item: Object) -> Object:
    return (item.get("status") or {}).get("initialization") or {}
