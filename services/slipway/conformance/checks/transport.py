"""TRN: what answers, over whatever transport."""

from slipway.conformance.check import Checks
from slipway.conformance.outcome import Broken, expect
from slipway.conformance.session import Session
from slipway.conformance.subject import SERVICE

CHECKS = Checks()


@CHECKS.check("TRN-001")
async def both_calls(session: Session) -> None:
    """GetProvisionerInfo and Render exist."""
    for method in ("GetProvisionerInfo", "Render"):
        got = await session.subject.call(f"/{SERVICE}/{method}")
        expect(got.code not in ("UNIMPLEMENTED", "UNAVAILABLE"), f"{method} ended with {got.code}")


@CHECKS.check("TRN-002")
async def health(session: Session) -> None:
    """Health says SERVING for the server and for the service."""
    for service in ("", SERVICE):
        got = await session.subject.health(service)
        if not got.ok:
            raise Broken(f'health of "{service}" ended with {got.code}')
        expect(await session.subject.serving(service), f'health of "{service}" is not SERVING')


@CHECKS.check("TRN-003")
async def health_of_a_stranger(session: Session) -> None:
    """Health does not know a service that nobody serves."""
    got = await session.subject.health("conformance.example.com.NoSuchService")
    expect(got.code == "NOT_FOUND", f"health of an unknown service ended with {got.code}")


@CHECKS.check("TRN-004")
async def unknown_call(session: Session) -> None:
    """A call that does not exist ends with UNIMPLEMENTED."""
    got = await session.subject.call(f"/{SERVICE}/NoSuchCall")
    expect(got.code == "UNIMPLEMENTED", f"an unknown call ended with {got.code}")
