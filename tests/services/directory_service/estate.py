"""A management cluster and a domain in memory, with the service between them."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from slipway.controller.report import Reporter
from slipway.directory.directory import Directory
from slipway.directory.settings import Settings
from slipway.directory_service.accounts_maker import AccountsMaker
from slipway.directory_service.service import DirectoryService
from slipway.directory_service.units import Units
from slipway.directory_service.watches import Watches
from slipway.kubernetes_api.resources import Json
from tests.services.controller.scene import cluster_object, config_object, machine_object
from tests.services.directory.fake_domain import NODES, FakeDomain
from tests.services.kubernetes_api.memory_api import NOW, MemoryApi

PASSWORD = "canary-of-the-delegated-account"  # of a domain in memory


def member(method: str = "OneTimePassword", domain: str = "corp.example.com") -> Json:
    """Give the spec of a machine that joins a domain."""
    return {"provisioner": {"name": "cloud-init"}, "os": {"directory": {"domain": domain, "method": method}}}


@dataclass
class Estate:
    """What a test sets: the password, the units, the error of the next connections, and the clock."""

    cleanup: bool = False
    units: Units = field(default_factory=Units)
    domain: FakeDomain = field(default_factory=FakeDomain)
    password: str = PASSWORD
    failure: Exception | None = None
    seconds: float = 0.0
    connections: int = 0
    blobs: list[str] = field(default_factory=list)
    api: MemoryApi = field(default_factory=MemoryApi)
    service: DirectoryService = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Forget what a process knows, and follow what is there."""
        maker = AccountsMaker(
            domain="corp.example.com",
            connect=self._connect,
            make_blob=self._blob,
            settings=self.settings,
            unit_of=self.units.unit_of,
            monotonic=lambda: self.seconds,
        )
        watches = Watches.of(self.api)  # type: ignore[arg-type]
        reporter = Reporter(self.api, lambda: NOW, component="slipway-directory")
        self.service = DirectoryService(watches, self.api, maker, reporter, cleanup=self.cleanup)
        for kind in ("Cluster", "Machine", "SlipwayConfig"):
            for item in self.api.all(kind):
                self._deliver(item)

    def settings(self, unit: str) -> Settings:
        """Give the settings for a unit."""
        return Settings("ldaps://dc1", "joiner@corp.example.com", self.password, NODES, "mgmt", unit)

    def put(self, item: Json) -> Json:
        """Put in an object, or a newer version of it."""
        stored = self.api.put(item)
        self._deliver(stored)
        return stored

    def gone(self, item: Json) -> None:
        """Take an object out."""
        self.api.remove(item["kind"], item["metadata"]["name"])
        self._informer(item)._put(("default", item["metadata"]["name"]), None)

    def worker(self, name: str = "w", *, spec: Json | None = None, **machine: Any) -> Json:
        """Put in a Cluster and a Machine with its config; give the Machine."""
        self.put(cluster_object())
        owner = self.put(machine_object(name, **machine))
        self.put(config_object(name, spec=member() if spec is None else spec, owner=owner))
        return owner

    async def look(self, name: str = "w") -> None:
        """Look at a Machine once."""
        await self.service.look(("default", name))

    def _deliver(self, item: Json) -> None:
        self._informer(item)._put(("default", item["metadata"]["name"]), item)

    def _informer(self, item: Json) -> Any:
        watches = self.service.watches
        return {"SlipwayConfig": watches.configs, "Machine": watches.machines, "Cluster": watches.clusters}[
            item["kind"]
        ]

    def _blob(self, settings: Settings, computer: str, domain: str) -> bytes:
        self.blobs.append(f"{computer} {domain} {settings.place}")
        return b"the blob"

    @contextmanager
    def _connect(self, settings: Settings) -> Iterator[Directory]:
        del settings
        self.connections += 1
        if self.failure is not None:
            raise self.failure
        yield self.domain


def values_of(secret: Json | None) -> dict[str, bytes]:
    """Give the values of a Secret."""
    assert secret is not None
    return {key: base64.b64decode(value) for key, value in secret["data"].items()}
