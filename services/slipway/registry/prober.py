"""Looks after the list: dials every instance again from time to time, ends leases, follows the static file.

Renewals say that a process lives; only a dial says that it can be called. Both are needed.
"""

import asyncio

import structlog

from slipway.contract.errors import SlipwayError
from slipway.registry.dialback import Dialler, Finding
from slipway.registry.instance import EXPIRED, Instance
from slipway.registry.registrations import Registrations
from slipway.registry.static_endpoints import StaticEndpoints
from slipway.rpc.tls import TlsFilesError

_AT_ONCE = 16
_log = structlog.get_logger("slipway.registry")


class Prober:
    """Keeps the states of instances true."""

    def __init__(
        self, registrations: Registrations, dialler: Dialler, static: StaticEndpoints | None, *, seconds: float
    ) -> None:
        """Dial every instance each ``seconds``."""
        self._registrations = registrations
        self._dialler = dialler
        self._static = static
        self._seconds = seconds
        self._limit = asyncio.Semaphore(_AT_ONCE)

    async def run(self) -> None:
        """Probe and sweep until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._sweeping())
            while True:
                await self.probe()
                await asyncio.sleep(self._seconds)

    async def probe(self) -> None:
        """Follow the static file and dial every instance once."""
        self._follow_file()
        living = [instance for instance in self._registrations.snapshot() if instance.state != EXPIRED]
        await asyncio.gather(*(self._probe(instance) for instance in living))

    async def _probe(self, instance: Instance) -> None:
        outcome: Finding | SlipwayError
        async with self._limit:
            try:
                outcome = await self._dialler.dial(name=instance.name, endpoint=instance.endpoint)
            except SlipwayError as error:
                outcome = error
            except TlsFilesError:
                # The registry's own certificates are at fault; that says nothing of the instance.
                _log.warning("own certificates unusable, instances not dialled")
                return
        self._registrations.observe(instance, outcome)

    async def _sweeping(self) -> None:
        while True:
            self._registrations.sweep()
            await asyncio.sleep(self._registrations.lease_duration.ttl / 30)

    def _follow_file(self) -> None:
        if self._static is None:
            return
        wanted = self._static.current()
        for instance in self._registrations.snapshot():
            if instance.is_static and (instance.name, instance.endpoint) not in wanted:
                self._registrations.remove(instance)
        for name, endpoint in sorted(wanted):
            self._registrations.add_static(name=name, endpoint=endpoint)
