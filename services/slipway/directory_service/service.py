"""The work of the leader: one Machine after the other gets its account, and those of deleted Machines are removed.

A crash at any point leads to the same result. The Secret is asked for by a dry run first, since the service cannot read
Secrets: where it exists nothing is touched. Then the domain has a password that no Secret holds yet, then the Secret
exists. Where the last step failed, the next try makes another password; where only its answer was lost, it changes
nothing.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from slipway.controller.facts import Facts
from slipway.controller.membership_account import REASON
from slipway.controller.report import Reporter
from slipway.controller.work_queue import WorkQueue
from slipway.directory.failures import (
    ComputerExists,
    ConfigurationInvalid,
    DirectoryError,
    RequestFailed,
    ServerUnavailable,
)
from slipway.directory_service.account_objects import KEYS, report_of, secret_of
from slipway.directory_service.accounts_maker import AccountsMaker
from slipway.directory_service.orders import Order, needed_account
from slipway.directory_service.watches import Watches
from slipway.kubernetes_api.election import Election
from slipway.kubernetes_api.failures import AlreadyExists, ApiFailure
from slipway.kubernetes_api.informer import Key
from slipway.kubernetes_api.objects import Objects
from slipway.kubernetes_api.resources import CONFIG_MAPS, SECRETS, Json, Resource
from slipway.rpc.error_mapping import describe_exception


class AccountApi(Objects, Protocol):
    """Creates objects in the management cluster. Every verb raises the kinds of ApiFailure; see api.py."""

    async def create_dry(self, resource: Resource, namespace: str, body: Json) -> None: ...


AGAIN_SECONDS = 60.0
"""Until a Secret that exists is asked for again, while there are no user data: it may be an earlier Machine's."""
REFUSED_SECONDS = 300.0
"""Between two tries of what a person must change."""
_TRANSIENT = (ServerUnavailable, RequestFailed)
_log = structlog.get_logger("slipway.directory")


@dataclass(slots=True)
class DirectoryService:
    """Everything that it depends on. `cleanup` removes the computers of deleted Machines."""

    watches: Watches
    api: AccountApi
    maker: AccountsMaker
    reporter: Reporter
    cleanup: bool = False
    queue: WorkQueue[Key] = field(default_factory=WorkQueue)
    _reported: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.watches.changed = self.queue.add

    async def lead(self, election: Election | None) -> None:
        """Wait to be elected, then work until cancelled.

        Raises:
            LostLeadership: another replica may write now.
        """
        for informer in self.watches.informers:
            await informer.synced.wait()
        tasks: list[asyncio.Task[None]] = []
        if election is not None:
            await election.win()
            tasks.append(asyncio.ensure_future(election.keep()))
        tasks.append(asyncio.ensure_future(self._work()))
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if election is not None:
                await election.resign()

    async def _work(self) -> None:
        while True:
            key = await self.queue.take()
            try:
                await self.look(key)
            except Exception as error:  # noqa: BLE001  # one Machine's defect must not stop the others
                self.queue.add_failed(key)
                _log.error("machine failed", machine="/".join(key), **describe_exception(error))
            finally:
                self.queue.done(key)

    async def look(self, key: Key) -> None:
        """Do what a Machine needs now, and schedule the next look."""
        if not self.watches.exists(key):
            await self._remove(key)
            return
        self.watches.gone.pop(key, None)
        facts = self.watches.facts(key)
        order = None if facts is None else needed_account(facts)
        if facts is None or order is None or order.domain != self.maker.domain:
            self.queue.forget(key)
            return
        try:
            await self._provide(order)
        except (DirectoryError, OSError) as error:
            await self._report(facts, order, error)
        except ApiFailure as error:
            _log.warning("account not handed over", machine="/".join(key), failure=type(error).__name__)
            self.queue.add_failed(key)
        else:
            self._reported.pop(order.uid, None)
            self.queue.forget(key)
            self.queue.add_after(key, AGAIN_SECONDS)

    async def _provide(self, order: Order) -> None:
        placeholders = dict.fromkeys(sorted(KEYS), b"")
        try:
            await self.api.create_dry(SECRETS, order.namespace, secret_of(order, placeholders))
        except AlreadyExists:
            return
        values = await asyncio.to_thread(self.maker.make, order)
        try:
            await self.api.create(SECRETS, order.namespace, secret_of(order, values))
        except AlreadyExists:
            problem = f"the Secret {order.secret} was made meanwhile and its password is not valid any more: delete it"
            raise ComputerExists(problem) from None
        _log.info("account made", machine=order.owner, computer=values["computer-name"].decode())

    async def _report(self, facts: Facts, order: Order, error: DirectoryError | OSError) -> None:
        """Report what is in the way: to the controller by the ConfigMap, to people by an event, and in the log."""
        if isinstance(error, OSError):
            error = ConfigurationInvalid("a file of the service cannot be read")
        _log.warning("account not made", machine=order.owner, reason=error.reason)
        key = (order.namespace, order.machine)
        if isinstance(error, _TRANSIENT):
            self.queue.add_failed(key)
        else:
            self.queue.add_after(key, REFUSED_SECONDS)
        await self.reporter.warn(facts, error.reason, str(error))
        if self._reported.get(order.uid) == error.reason:
            return
        try:
            body = report_of(order, REASON, error.reason)
            try:
                await self.api.create(CONFIG_MAPS, order.namespace, body)
            except AlreadyExists:
                change = {"metadata": {"annotations": body["metadata"]["annotations"]}}
                await self.api.merge(CONFIG_MAPS, order.namespace, order.secret, change)
        except ApiFailure as failure:
            _log.warning("reason not written", machine=order.owner, failure=type(failure).__name__)
            return
        self._reported[order.uid] = error.reason

    async def _remove(self, key: Key) -> None:
        self.queue.forget(key)
        if key not in self.watches.gone:
            return
        if not self.cleanup:
            self.watches.gone.pop(key)
            return
        try:
            removals = await asyncio.to_thread(self.maker.remove, "/".join(key))
        except (DirectoryError, OSError) as error:
            reason = error.reason if isinstance(error, DirectoryError) else ConfigurationInvalid.reason
            _log.warning("computer not removed", machine="/".join(key), reason=reason)
            self.queue.add_failed(key)
            return
        self.watches.gone.pop(key, None)
        for removal in removals:
            _log.info("computer removed", machine="/".join(key), computer=removal.computer, result=removal.result)
