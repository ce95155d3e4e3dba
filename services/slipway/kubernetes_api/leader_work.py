"""The work of a leader as a task beside a server: when it fails, the process ends in order, and with 1."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from slipway.kubernetes_api.election import Election, LostLeadership
from slipway.rpc.error_mapping import describe_exception
from slipway.rpc.server import RpcServer


class LeaderWork:
    """Runs what leads until the server stops, or until it fails."""

    def __init__(
        self, lead: Callable[[Election | None], Awaitable[None]], election: Election | None, *, name: str, log: Any
    ) -> None:
        """Prepare it.

        Args:
            lead: does the work while the election holds; without an election at once.
            election: the election, or None.
            name: what fails, in the log.
            log: the logger of the service.
        """
        self._lead = lead
        self._election = election
        self._name = name
        self._log = log
        self._task: asyncio.Task[None] | None = None
        self._failed = False

    async def start(self, server: RpcServer) -> None:
        """Begin, as a server's own start does."""
        del server
        self._task = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        """End the work."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def check(self) -> None:
        """End the process with 1 when the work has ended by itself; the log has the reason."""
        if self._failed:
            sys.exit(1)

    async def _run(self) -> None:
        try:
            await self._lead(self._election)
        except LostLeadership:
            self._fail("leader election lost, process ends")
        except Exception as error:  # noqa: BLE001  # a process without its work must not go on
            self._fail(f"{self._name} failed with an internal error, process ends", **describe_exception(error))

    def _fail(self, event: str, **details: Any) -> None:
        self._failed = True
        self._log.error(event, **details)
        os.kill(os.getpid(), signal.SIGTERM)
