"""REG: the life of a lease, against a registry of the suite's own that grants two seconds. All needs --start-cmd."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise

from tools.conformance import requests
from tools.conformance.certificates import Credentials, OwnAuthority
from tools.conformance.check import Checks, Need
from tools.conformance.launcher import Running
from tools.conformance.outcome import Broken, NotRun, all_hold, expect
from tools.conformance.registry import RENEW_AFTER, TTL, OwnRegistry
from tools.conformance.session import Session
from tools.conformance.subject import RENDER_SECONDS, SERVICE, Subject

CHECKS = Checks()
_INSTANCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_AGAIN_SECONDS, _BACKOFF_SECONDS = 2.0, 3.0
_MOST_ATTEMPTS, _QUIET_SECONDS, _ENOUGH, _QUICK = 10, 1.5, 3, 5
_FOREIGN_SECONDS = 2.0
_LATE_SECONDS = 0.1
_IN_FLIGHT, _LARGE = 4, 256 * 1024


@dataclass(frozen=True, slots=True)
class Registered:
    """A process of the provisioner that has announced itself to a registry."""

    registry: OwnRegistry
    running: Running
    subject: Subject


@CHECKS.check("REG-001", Need.PROCESS, slow=True)
async def announcement(session: Session) -> None:
    """It announces its own name, and an endpoint at which it answers."""
    async with _registered(session) as one:
        request = one.registry.of("Register")[0].request
        expect(request.name == session.info.name, "`name` of Register is not that of GetProvisionerInfo")
        expect(request.instance_id, "`instance_id` of Register is empty")
        subject = Subject(request.endpoint, session.credentials)
        try:
            got = await subject.info()
        finally:
            await subject.close()
        expect(got.ok and got.response.name == session.info.name, "at the announced `endpoint` it does not answer")


@CHECKS.check("REG-002", Need.PROCESS, slow=True)
async def serves_before(session: Session) -> None:
    """When it announces itself it can be dialled."""
    async with session.registry() as registry:
        registry.dial_back(session.credentials)
        setup = session.setup(registry=registry.address)
        async with session.process(setup):
            came = await registry.until(lambda: registry.dialled, session.options.patience.start)
            expect(came, "it did not call Register")
            expect(all(registry.dialled), f"dialled back during Register, health of {SERVICE} was not SERVING")


@CHECKS.check("REG-003", Need.PROCESS, slow=True)
async def instance_id(session: Session) -> None:
    """Every process has an id of its own, and keeps it."""
    found = []
    async with _registered(session) as one:
        found.append(one.registry.of("Register")[0].request.instance_id)
        one.registry.forget()
        again = await one.registry.until(lambda: len(one.registry.of("Register")) > 1, _renewal() + _AGAIN_SECONDS + 2)
        expect(again, "it did not register again")
        expect(one.registry.of("Register")[1].request.instance_id == found[0], "`instance_id` changed while it lives")
    async with _registered(session) as other:
        found.append(other.registry.of("Register")[0].request.instance_id)
    expect(found[0] != found[1], "two processes have the same `instance_id`")
    expect(all(_INSTANCE.fullmatch(id_) for id_ in found), "`instance_id` is malformed")


@CHECKS.check("REG-004", Need.PROCESS, slow=True)
async def renewal(session: Session) -> None:
    """It renews when it is asked to, and never too late."""
    busy = session.options.patience.busy
    since = time.monotonic()
    async with _registered(session) as one:
        registry = one.registry
        enough = await registry.until(lambda: len(registry.of("RenewLease")) >= _ENOUGH, 3 * TTL + busy)
        expect(enough, f"it did not renew its lease of {TTL:.0f} seconds three times in {3 * TTL:.0f} seconds")
        calls = [registry.of("Register")[0], *registry.of("RenewLease")]
        gaps = [after.at - before.at for before, after in pairwise(calls)]
        expect(max(gaps) < TTL, "it let the lease end before it renewed it")
        expect(min(gaps) > RENEW_AFTER * 0.75, "it renewed long before `renew_after` had passed")
        # On a busy machine one may be late; who is late each time was not asked to be.
        late = session.heartbeat.late(since)
        expect(
            min(gaps) < _renewal() + _LATE_SECONDS + late, "it renewed long after `renew_after` and a fifth had passed"
        )
        lease = registry.of("Register")[0].lease
        expect({call.lease for call in calls} == {lease}, "it renewed another lease than it was granted")


@CHECKS.check("REG-005", Need.PROCESS, slow=True)
async def newest_answer(session: Session) -> None:
    """It follows what the newest renewal says."""
    busy = session.options.patience.busy
    async with _registered(session) as one:
        registry = one.registry
        registry.renew_after = 0.2
        await registry.until(lambda: registry.of("RenewLease"), TTL + busy)
        since = time.monotonic()
        # However busy the machine: so late could also be one that goes on with the older `renew_after`.
        most = _QUICK * RENEW_AFTER * 0.9
        quick = await registry.until(
            lambda: len(registry.of("RenewLease", since=since)) >= _QUICK, 1.4 + busy, most=most
        )
        expect(quick, "a renewal said a shorter `renew_after`, and it did not follow")


@CHECKS.check("REG-006", Need.PROCESS, slow=True)
async def not_found(session: Session) -> None:
    """NOT_FOUND makes it register again, at once."""
    busy = session.options.patience.busy
    async with _registered(session) as one:
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
    async with _registered(session) as one:
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
                late = min(session.heartbeat.late(since), 2 * _BACKOFF_SECONDS)
                again = await registry.until(lambda r=registry: len(r.of("Register")) > 1, late)  # type: ignore[misc]
                expect(again, f"refused, it did not call Register again {seconds}")
                expect(await _serves(session, subject), "refused by the registry, it does not serve")


@CHECKS.check("REG-009", Need.PROCESS, slow=True)
async def registry_away(session: Session) -> None:
    """Without a registry it serves all the same."""
    async with session.registry() as registry:
        address = registry.address
    async with session.process(session.setup(registry=address)) as (running, subject):
        await asyncio.sleep(1)
        expect(await running.ended(0) is None, "it ended, because the registry is away")
        expect(await _serves(session, subject), "it does not serve, because the registry is away")


@CHECKS.check("REG-010", Need.PROCESS, slow=True)
async def deregisters(session: Session) -> None:
    """At its end it gives the lease back, after it has said that it does not serve, and is silent then."""
    busy = session.options.patience.busy
    async with _registered(session) as one:
        registry = one.registry
        # Only who has renewed its lease has surely learned that it was granted.
        renewed = await registry.until(lambda: registry.of("RenewLease"), TTL + busy)
        expect(renewed, f"it did not renew its lease of {TTL:.0f} seconds")
        registry.ask_health(one.subject)
        lease = registry.of("Register")[0].lease
        one.running.terminate()
        came = await registry.until(lambda: registry.of("Deregister"), session.options.patience.end)
        expect(came, "after SIGTERM it did not call Deregister")
        call = registry.of("Deregister")[0]
        expect(call.lease == lease, "it deregistered another lease than it was granted")
        expect(not any(registry.serving_at_end), "health was still SERVING when it called Deregister")
        await one.running.ended(_QUIET_SECONDS)
        late = [one.method for one in registry.calls if one.at > call.at + 0.1 and one.method != "Deregister"]
        expect(not late, f"after Deregister it called {', '.join(sorted(set(late)))}")


@CHECKS.check("REG-011", Need.PROCESS, slow=True)
async def in_flight(session: Session) -> None:
    """What was being rendered when SIGTERM came is rendered to its end."""
    info = session.info.formats[0]
    base = await session.base(info)
    if "os.files" in {support.id for support in info.features}:
        text = b"0123456789abcde\n" * (_LARGE // 16)
        base = requests.merged(base, requests.files(requests.file("large", text)), info)
    async with _registered(session) as one:
        await one.subject.info()
        # How long a Render may take is another clause.
        seconds = 3 * RENDER_SECONDS
        calls = [asyncio.ensure_future(one.subject.render(base, seconds=seconds)) for _ in range(_IN_FLIGHT)]
        await asyncio.sleep(0.03)
        one.running.terminate()
        got = await asyncio.gather(*calls)
        wrong = sorted({answer.described() for answer in got if not answer.ok and answer.info.reason != "DRAINING"})
        problems = [f"a Render that was in flight at SIGTERM ended with {end}" for end in wrong]
        if not any(answer.ok for answer in got):
            problems.append("no Render that was in flight at SIGTERM came to its end")
        all_hold(problems)
        code = await session.ended(one.running, session.options.patience.end)
        if code is None:
            raise Broken(f"it still runs {session.options.patience.end:.0f} seconds after SIGTERM")


@CHECKS.check("REG-015", Need.PROCESS, Need.AUTHORITY, slow=True)
async def foreign_registry(session: Session) -> None:
    """A registry that its authority knows nothing of is not told anything."""
    stranger = OwnAuthority(trust_domain=session.options.trust_domain).issue(role="registry", name="stranger")
    came = await _registers(session, stranger)
    expect(not came, "it registers at a registry whose certificate its authority did not issue")


@CHECKS.check("REG-015", Need.PROCESS, Need.AUTHORITY, slow=True)
async def registry_of_another_host(session: Session) -> None:
    """A certificate of its authority that is for another host makes no registry of a process."""
    if session.authority is None:
        raise NotRun("the suite did not make the certificates")
    elsewhere = session.authority.issue(role="registry", name="elsewhere", hosts=("registry.example.com", "192.0.2.1"))
    came = await _registers(session, elsewhere)
    expect(not came, "it registers at a registry whose certificate is for another host")


async def _serves(session: Session, subject: Subject) -> bool:
    """Whether a process says that it serves; one that does not answer at all is asked again on a busy machine."""
    since = time.monotonic()
    got = await subject.health("")
    if got.code == "DEADLINE_EXCEEDED" and session.heartbeat.said(since):
        got = await subject.health("")
    return subject.serves(got)


async def _registers(session: Session, shown: Credentials) -> bool:
    """Whether it registers at a registry that shows this certificate."""
    own = session.credentials
    # It lets in whom the suite's own authority knows, so that only its own certificate is wrong.
    registry = OwnRegistry(credentials=None if own is None else Credentials(own.authority, shown.chain, shown.key))
    await registry.start()
    try:
        async with session.process(session.setup(registry=registry.address)):
            return await registry.until(lambda: registry.of("Register"), _FOREIGN_SECONDS)
    finally:
        await registry.stop()


@asynccontextmanager
async def _registered(session: Session) -> AsyncIterator[Registered]:
    """Run a registry and a process that has announced itself there."""
    async with AsyncExitStack() as stack:
        registry = await stack.enter_async_context(session.registry())
        setup = session.setup(registry=registry.address)
        running, subject = await stack.enter_async_context(session.process(setup))
        if not await registry.until(lambda: registry.of("Register"), session.options.patience.start):
            raise Broken("with a registry it did not call Register")
        yield Registered(registry, running, subject)


def _renewal() -> float:
    return RENEW_AFTER * 1.2
