"""REG: the life of a lease, against a registry of the suite's own that grants two seconds. All needs --start-cmd."""

import asyncio
import re
import statistics
import time
from collections.abc import Sequence

from slipway.conformance import requests
from slipway.conformance.certificates import Credentials, OwnAuthority
from slipway.conformance.check import Checks, Need
from slipway.conformance.outcome import Broken, NotRun, Unjudged, expect
from slipway.conformance.registered import Pause, pauses, registered
from slipway.conformance.registry import RENEW_AFTER, TTL, OwnRegistry
from slipway.conformance.session import Session
from slipway.conformance.subject import RENDER_SECONDS, SERVICE, Subject
from slipway.conformance.yardstick import judge_as_usual

CHECKS = Checks()
_INSTANCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_RENEWAL = RENEW_AFTER * 1.2
_QUIET_SECONDS, _FOREIGN_SECONDS = 1.5, 2.0
_ENOUGH, _MOST, _QUICK = 3, 6, 5
_EARLY_SECONDS, _LATE_SECONDS = 0.01, 0.05
"""By so much a timer may be early, for some count in milliseconds; and late, for a machine does other things, too."""

_LATE = "it renewed each time after `renew_after` and a fifth had passed"

_SILENT_SECONDS = 0.1
"""So long after the lease was given back a call may come that had begun before."""

_SAMPLES = 5
_IN_FLIGHT, _LARGE = 4, 256 * 1024


@CHECKS.check("REG-001", Need.PROCESS, slow=True)
async def announcement(session: Session) -> None:
    """It announces its own name, and an endpoint at which it answers."""
    async with registered(session) as one:
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
    async with registered(session) as one:
        found.append(one.registry.of("Register")[0].request.instance_id)
        one.registry.forget()
        again = await one.registry.until(lambda: len(one.registry.of("Register")) > 1, _RENEWAL + 4)
        expect(again, "it did not register again")
        expect(one.registry.of("Register")[1].request.instance_id == found[0], "`instance_id` changed while it lives")
    async with registered(session) as other:
        found.append(other.registry.of("Register")[0].request.instance_id)
    expect(found[0] != found[1], "two processes have the same `instance_id`")
    expect(all(_INSTANCE.fullmatch(id_) for id_ in found), "`instance_id` is malformed")


@CHECKS.check("REG-004", Need.PROCESS, slow=True)
async def renewal(session: Session) -> None:
    """It renews when it is asked to, and never too late."""
    busy = session.options.patience.busy
    async with registered(session) as one:
        registry = one.registry
        enough = await registry.until(lambda: len(registry.of("RenewLease")) >= _ENOUGH, 3 * TTL + busy)
        expect(enough, f"it did not renew its lease of {TTL:.0f} seconds three times in {3 * TTL:.0f} seconds")
        call, found, seen = await _call_seconds(one.subject), _LATE, list[Pause]()
        # On a busy machine some may be late; who comes as asked is in time at last.
        for count in range(_ENOUGH, _MOST + 1):
            await registry.until(lambda n=count: len(registry.of("RenewLease")) >= n, TTL + busy)  # type: ignore[misc]
            calls = [registry.of("Register")[0], *registry.of("RenewLease")]
            seen = pauses(calls, session.heartbeat)
            found = untimely(seen, call=call)
            if found != _LATE:
                break
        if found and not untimely(seen, call=call, slow=(factor := session.heartbeat.slowness())):
            raise Unjudged(f"{found}, on a machine that is {factor:.1f} times slower than usual: not judged")
        expect(not found, found)
        lease = registry.of("Register")[0].lease
        expect({call.lease for call in calls} == {lease}, "it renewed another lease than it was granted")


@CHECKS.check("REG-005", Need.PROCESS, slow=True)
async def newest_answer(session: Session) -> None:
    """It follows what the newest renewal says."""
    busy = session.options.patience.busy
    async with registered(session) as one:
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


@CHECKS.check("REG-010", Need.PROCESS, slow=True)
async def deregisters(session: Session) -> None:
    """At its end it gives the lease back, after it has said that it does not serve, and is silent then."""
    busy = session.options.patience.busy
    async with registered(session) as one:
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
        silent = call.at + _SILENT_SECONDS * session.heartbeat.slowness()
        late = [one.method for one in registry.calls if one.at > silent and one.method != "Deregister"]
        expect(not late, f"after Deregister it called {', '.join(sorted(set(late)))}")


@CHECKS.check("REG-011", Need.PROCESS, slow=True)
async def in_flight(session: Session) -> None:
    """What was being rendered when SIGTERM came is rendered to its end."""
    info = session.info.formats[0]
    base = await session.base(info)
    if "os.files" in {support.id for support in info.features}:
        text = b"0123456789abcde\n" * (_LARGE // 16)
        base = requests.merged(base, requests.files(requests.file("large", text)), info)
    async with registered(session) as one:
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
        # Calls that a slow machine has not let in before SIGTERM were never in flight.
        judge_as_usual(problems, slow=session.heartbeat.slowness)
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
async def registry_of_another_role(session: Session) -> None:
    """A certificate of its authority for the registry's host, but for another role, makes no registry of a process."""
    if session.authority is None:
        raise NotRun("the suite did not make the certificates")
    other = session.authority.issue(role="provisioner", name="other")
    came = await _registers(session, other)
    expect(not came, "it registers at a registry whose certificate is that of a provisioner")


def untimely(found: Sequence[Pause], *, call: float, slow: float = 1.0) -> str:
    """Give what is wrong with the pauses before renewals; nothing when they are as they should be.

    Args:
        found: the pauses.
        call: seconds that a call takes here: by twice that a renewal may be late at least, and by what the suite was.
        slow: how many times slower than usual the machine is.
    """
    if max(pause.seconds - pause.late for pause in found) >= TTL * slow:
        return "it let the lease end before it renewed it"
    if min(pause.seconds for pause in found) < RENEW_AFTER - _EARLY_SECONDS * slow:
        return "it renewed before `renew_after` had passed"
    # One may be late for reasons that nobody sees; who is late each time was not asked to be.
    latest = (_RENEWAL + max(2 * call, _LATE_SECONDS)) * slow
    return _LATE if all(pause.seconds > latest + pause.late for pause in found) else ""


async def _call_seconds(subject: Subject) -> float:
    """How long a call takes here, with a connection of its own as some make for each renewal: the median of some."""
    found = []
    for _ in range(_SAMPLES):
        began = time.monotonic()
        other = Subject(subject.endpoint, subject.credentials)
        try:
            await other.health("")
        finally:
            await other.close()
        found.append(time.monotonic() - began)
    return statistics.median(found)


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
