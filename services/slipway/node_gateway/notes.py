"""Notes of which payload was fetched, for the controller that stored it: a payload is for one machine, and for once."""

import asyncio
import time
import uuid
from dataclasses import dataclass, field

import structlog

from slipway.contract.errors import ReportsUnavailable
from slipway.reports.objects import Objects

FOLDER = "fetched"
_SECONDS = 30.0
_MOST = 256
_log = structlog.get_logger("slipway.node_gateway")


@dataclass(frozen=True, slots=True)
class Notes:
    """Writes an object for each payload that was sent as a whole; its content is the peer's address."""

    objects: Objects
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, repr=False)

    def add(self, name: str, peer: str) -> None:
        """Note a fetch in the background: a store that fails or hangs delays no machine."""
        if len(self._tasks) >= _MOST:
            _log.warning("fetch not noted", failure="Busy")
            return
        task = asyncio.get_running_loop().create_task(self._write(name, peer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Wait for what is being written, and end."""
        await asyncio.gather(*self._tasks)
        self.objects.close()

    async def _write(self, name: str, peer: str) -> None:
        path = f"{FOLDER}/{name}/{time.time_ns()}-{uuid.uuid4().hex[:8]}"
        try:
            async with asyncio.timeout(_SECONDS):
                await self.objects.run(lambda: self.objects.put(path, peer.encode()))
        except (TimeoutError, ReportsUnavailable) as error:
            _log.warning("fetch not noted", failure=type(error).__name__)
