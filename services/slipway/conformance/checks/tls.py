"""TRN: whom it lets in over TLS, and what it shows."""

import asyncio
import ssl
import time

from slipway.conformance.answer import Answer
from slipway.conformance.certificates import Credentials, foreign, shown_by
from slipway.conformance.check import Checks, Need
from slipway.conformance.outcome import Broken, NotRun, expect
from slipway.conformance.session import Session
from slipway.conformance.subject import Subject

CHECKS = Checks()


@CHECKS.check("TRN-005", Need.TLS)
async def foreign_certificate(session: Session) -> None:
    """A certificate of another authority is refused."""
    got = await _ask(session, foreign(_credentials(session)))
    expect(not got.ok, "it let in a client whose certificate its authority did not issue")


@CHECKS.check("TRN-005", Need.TLS)
async def no_certificate(session: Session) -> None:
    """A client without a certificate is refused."""
    own = _credentials(session)
    got = await _ask(session, Credentials(own.authority, server_name=own.server_name))
    expect(not got.ok, "it let in a client without a certificate")


@CHECKS.check("TRN-005", Need.TLS, Need.AUTHORITY)
async def expired_certificate(session: Session) -> None:
    """A certificate of its own authority that has expired is refused."""
    if session.authority is None:
        raise NotRun("the suite did not make the certificates")
    expired = session.authority.expired(role="bootstrapper", name="expired")
    got = await _ask(session, expired.named(_credentials(session).server_name))
    expect(not got.ok, "it let in a client whose certificate has expired")


@CHECKS.check("TRN-006", Need.TLS)
async def plain_text(session: Session) -> None:
    """Plain text is refused."""
    got = await _ask(session, None)
    expect(not got.ok, "it answered in plain text on the port that it serves TLS on")


@CHECKS.check("TRN-007", Need.TLS)
async def identity(session: Session) -> None:
    """Its certificate carries its name, for both kinds of clients."""
    shown = await asyncio.to_thread(shown_by, session.subject.endpoint, _credentials(session))
    domain, name = session.options.trust_domain, session.info.name
    wanted = f"{name}.provisioner.{domain}"
    expect(wanted in shown.names, f"its certificate does not have the DNS name {wanted}")
    uri = f"spiffe://{domain}/provisioner/{name}"
    expect(uri in shown.spiffe_ids, f"its certificate does not have the URI {uri}")


@CHECKS.check("TRN-008", Need.TLS)
async def old_tls(session: Session) -> None:
    """TLS 1.1 is refused, and what is agreed on is 1.2 or newer."""
    own = _credentials(session)
    shown = await asyncio.to_thread(shown_by, session.subject.endpoint, own)
    expect(shown.version in ("TLSv1.2", "TLSv1.3"), f"it speaks {shown.version}")
    try:
        old = await asyncio.to_thread(shown_by, session.subject.endpoint, own, most=ssl.TLSVersion.TLSv1_1)
    except OSError:
        return
    raise Broken(f"it speaks {old.version} with a client that knows nothing newer")


@CHECKS.check("TRN-009", Need.AUTHORITY, slow=True)
async def renewed_certificate(session: Session) -> None:
    """A certificate that is replaced in the directory is shown to the next new connection."""
    authority = session.authority
    if authority is None:
        raise NotRun("the suite did not make the certificates")
    own = _credentials(session)
    folder = session.folder / "renewed"
    authority.write(folder, name=session.info.name)
    async with session.process(session.setup(certificates=folder)) as (_, subject):
        before = await asyncio.to_thread(shown_by, subject.endpoint, own)
        authority.write(folder, name=session.info.name)
        seconds = session.options.patience.reload

        async def shown(left: float) -> bool:
            end = time.monotonic() + left
            while time.monotonic() < end:
                after = await asyncio.to_thread(shown_by, subject.endpoint, own)
                if after.serial != before.serial:
                    return True
                await asyncio.sleep(0.3)
            return False

        renewed = await session.heartbeat.within(seconds, shown)
        expect(renewed, f"it still shows the old certificate {seconds:.0f} seconds after the files were replaced")


def _credentials(session: Session) -> Credentials:
    if session.credentials is None:
        raise NotRun("there is no TLS")
    return session.credentials


async def _ask(session: Session, credentials: Credentials | None) -> Answer:
    subject = Subject(session.subject.endpoint, credentials)
    try:
        return await subject.info()
    finally:
        await subject.close()
