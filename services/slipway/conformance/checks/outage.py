"""REG: a registry that is away, refuses, or has forgotten. All needs --start-cmd."""

import asyncio
import time
from collections.abc import Sequence

from slipway.conformance.check import Checks, Need
from slipway.conformance.outcome import Broken, expect
from slipway.conformance.registered import Pause, pauses, registered, serves
from slipway.conformance.registry import TTL
from slipway.conformance.session import Session

CHECKS = Checks()
_AGAIN_SECONDS, _BACKOFF_SECONDS, _GROWTH_SECONDS = 2.0, 3.0, 1.0
_MOST_ATTEMPTS = 10
_ENOUGH, _GROWTH = 5, 1.5
"""Pauses after which it is clear whether they grow: by more than jitter, or a busy machine, makes some longer."""


@CHECKS.check("REG-006", Need.PROCESS, slow=True)
async def not_found(session: Session) -> None:
    """NOT_FOUND makes it register again, at once."""
    busy = session.options.patience.busy
    async with registered(session) as one:
        registry = one.registry
        registry.forget()
        since = time.monotonic()
        await registry.until(lambda: registry.of("RenewLease", since=since), TTL + busy)
        again = await registry.until(lambda: registry.of("Register", since=since), _AGAIN_SECONDS + busy)
        expect(again, f"{_AGAIN_SECONDS:.0f} seconds after NOT_FOUND it had not registered again")


@CHECKS.check("REG-007", Need.PROCESS, slow=True)
async def registry_restart(session: Session) -> None:
    """A registry that was away has it back soon."""
    busy = session.options.patience.busy
    async with registered(session) as one:
        await one.registry.stop()
        await asyncio.sleep(TTL)
        since = time.monotonic()
        await one.registry.start()
        seconds = session.options.patience.back
        back = await one.registry.until(lambda: one.registry.of("Register", since=since), seconds + busy)
        expect(back, f"{seconds:.0f} seconds after the registry came back it had not registered again")


@CHECKS.check("REG-008", Need.PROCESS, slow=True)
async def backs_off(session: Session) -> None:
    """A registry that refuses is not stormed, and not given up."""
    for unavailable in (True, False):
        async with session.registry() as registry:
            registry.unavailable, registry.forbidden = unavailable, not unavailable
            async with session.process(session.setup(registry=registry.address)) as (_, subject):
                came = await registry.until(lambda r=registry: r.of("Register"), session.options.patience.start)  # type: ignore[misc]
                expect(came, "it did not call Register")
                since = time.monotonic()
                await asyncio.sleep(_BACKOFF_SECONDS)
                count = len(registry.of("Register"))
                seconds = f"in {_BACKOFF_SECONDS:.0f} seconds"
                expect(count <= _MOST_ATTEMPTS, f"refused, it called Register {count} times {seconds}")
                await asyncio.sleep(_GROWTH_SECONDS)
                growing = grow(pauses(registry.of("Register"), session.heartbeat))
                expect(growing, "refused, it calls Register again after pauses that do not grow")
                longer = session.heartbeat.longer(_BACKOFF_SECONDS, since) - _BACKOFF_SECONDS
                again = await registry.until(lambda r=registry: len(r.of("Register")) > 1, longer)  # type: ignore[misc]
                if not again:
                    session.heartbeat.fail(_BACKOFF_SECONDS, since)
                expect(again, f"refused, it did not call Register again {seconds}")
                expect(await serves(session, subject), "refused by the registry, it does not serve")


@CHECKS.check("REG-009", Need.PROCESS, slow=True)
async def registry_away(session: Session) -> None:
    """Without a registry it serves all the same."""
    async with session.registry() as registry:
        address = registry.address
    async with session.process(session.setup(registry=address)) as (running, subject):
        await asyncio.sleep(1)
        expect(await running.ended(0) is None, "it ended, because the registry is away")
        expect(await serves(session, subject), "it does not serve, because the registry is away")


@CHECKS.check("REG-008", Need.PROCESS, slow=True)
async def renews_on(session: Session) -> None:
    """A lease that it cannot renew it goes on to renew, past its end, and neither storms nor registers again."""
    busy = session.options.patience.busy
    async with registered(session) as one:
        registry = one.registry
        # Only who has renewed its lease has surely learned that it was granted.
        renewed = await registry.until(lambda: registry.of("RenewLease"), TTL + busy)
        expect(renewed, f"it did not renew its lease of {TTL:.0f} seconds")
        registry.unavailable = True
        since = time.monotonic()
        await asyncio.sleep(_BACKOFF_SECONDS)
        count = len(registry.of("RenewLease", since=since))
        expect(
            count <= _MOST_ATTEMPTS, f"refused, it called RenewLease {count} times in {_BACKOFF_SECONDS:.0f} seconds"
        )
        registry.unavailable = False
        mended = time.monotonic()
        seconds = session.options.patience.back
        back = await registry.until(lambda: registry.of("RenewLease", since=mended), seconds + busy)
        expect(not registry.of("Register", since=since), "it registered again without a NOT_FOUND")
        expect(back, f"{seconds:.0f} seconds after the registry had its wits back it had not renewed its lease")


@CHECKS.check("REG-010", Need.PROCESS, slow=True)
async def farewell_to_nobody(session: Session) -> None:
    """A registry that is gone does not keep it from ending well."""
    async with registered(session) as one:
        renewed = await one.registry.until(lambda: one.registry.of("RenewLease"), TTL + session.options.patience.busy)
        expect(renewed, f"it did not renew its lease of {TTL:.0f} seconds")
        await one.registry.stop()
        one.running.terminate()
        seconds = session.options.patience.end
        code = await session.ended(one.running, seconds)
        if code is None:
            raise Broken(f"with the registry gone it still runs {seconds:.0f} seconds after SIGTERM")
        expect(code == 0, f"with the registry gone it ended with exit code {code} after SIGTERM")


def grow(found: Sequence[Pause]) -> bool:
    """Whether the pauses grow, as far as it can be told: those that jitter alone makes differ do not."""
    seconds = [pause.seconds for pause in found]
    return len(seconds) < _ENOUGH or max(seconds) > _GROWTH * min(seconds)
