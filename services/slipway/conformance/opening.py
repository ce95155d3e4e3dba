"""Opens a session: reaches the provisioner, starts it where a command is given, and asks it who it is."""

import asyncio
import contextlib
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from slipway.conformance.certificates import Credentials, OwnAuthority, shown_by
from slipway.conformance.heartbeat import Heartbeat
from slipway.conformance.launcher import Launcher, ProcessLauncher, Running, Setup, free_address
from slipway.conformance.options import Options
from slipway.conformance.session import CannotStartError, Session, certificate_folder
from slipway.conformance.subject import Subject
from slipway.conformance.yardstick import slowness
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb


@asynccontextmanager
async def opened(
    options: Options, *, launcher: Launcher | None = None, heartbeat: Heartbeat | None = None
) -> AsyncIterator[Session]:
    """Reach the provisioner, starting it if a command is given, and ask it who it is.

    Without a heartbeat, one looks at this machine; one that is given is taken as it is.

    Raises:
        CannotStartError: it cannot be reached, or does not say who it is.
    """
    if launcher is None and options.start_cmd:
        launcher = ProcessLauncher(options.start_cmd)
    endpoint = options.endpoint or free_address()
    async with contextlib.AsyncExitStack() as stack, contextlib.AsyncExitStack() as opening:
        if heartbeat is None:
            heartbeat = await stack.enter_async_context(Heartbeat(slowness=slowness).beating())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="slipway-conformance-")))
        credentials, authority = await _credentials(options, folder, launcher, heartbeat)
        main: Running | None = None
        if launcher is not None:
            setup = Setup(listen=endpoint, tls_cert_dir=certificate_folder(options, folder), insecure=options.insecure)
            main = await launcher.start(setup)
            opening.push_async_callback(main.kill)
        reached = await _reach(endpoint, credentials, main=main, options=options, heartbeat=heartbeat)
        subject = Subject(endpoint, reached, heartbeat=heartbeat)
        opening.push_async_callback(subject.close)
        got = await subject.patient_info()
        if not isinstance(got.response, provisionerpb.GetProvisionerInfoResponse):
            raise CannotStartError(f"{endpoint}: GetProvisionerInfo ended with {got.described()}: {got.message}")
        session = Session(
            options=options,
            heartbeat=heartbeat,
            subject=subject,
            info=got.response,
            launcher=launcher,
            main=main,
            credentials=reached,
            authority=authority,
            folder=folder,
        )
        opening.pop_all()
        stack.push_async_callback(session.end)
        yield session


async def _credentials(
    options: Options, folder: Path, launcher: Launcher | None, heartbeat: Heartbeat
) -> tuple[Credentials | None, OwnAuthority | None]:
    if options.insecure:
        return None, None
    if options.tls_cert_dir is not None:
        try:
            return Credentials.read(options.tls_cert_dir), None
        except OSError as error:
            raise CannotStartError(f"{error.filename}: {error.strerror}") from None
    if launcher is None:
        raise CannotStartError("give --tls-cert-dir DIR or --insecure, or --start-cmd to have certificates made")
    # Its certificate carries its name, which only it knows.
    authority = OwnAuthority(trust_domain=options.trust_domain)
    setup = Setup(listen=free_address(), insecure=True)
    running = await launcher.start(setup)
    subject = Subject(str(setup.listen), None, heartbeat=heartbeat)
    try:
        if not await heartbeat.within(options.patience.start, subject.reachable):
            raise CannotStartError(_silent(running))
        got = await subject.patient_info()
    finally:
        await subject.close()
        await running.kill()
    if not isinstance(got.response, provisionerpb.GetProvisionerInfoResponse):
        raise CannotStartError(f"GetProvisionerInfo ended with {got.described()}")
    authority.write(folder / "subject", name=got.response.name)
    return authority.issue(role="bootstrapper", name="conformance"), authority


async def _reach(
    endpoint: str, credentials: Credentials | None, *, main: Running | None, options: Options, heartbeat: Heartbeat
) -> Credentials | None:
    """Wait until it listens, and give the credentials with the name that its certificate has."""
    seconds = options.patience.reach if main is None else options.patience.start
    if credentials is None:
        subject = Subject(endpoint, None)
        try:
            if not await heartbeat.within(seconds, subject.reachable):
                raise CannotStartError(_silent(main) if main is not None else f"{endpoint}: no server answers there")
        finally:
            await subject.close()
        return None
    since = time.monotonic()
    while True:
        try:
            shown = await asyncio.to_thread(shown_by, endpoint, credentials)
            break
        except OSError as error:
            late = time.monotonic() - since > heartbeat.longer(seconds, since)
            if late or (main is not None and await main.ended(0) is not None):
                text = _silent(main) if main is not None else f"{endpoint}: no TLS: {type(error).__name__}"
                raise CannotStartError(text) from None
            await asyncio.sleep(0.1)
    suffix = f".provisioner.{options.trust_domain}"
    return credentials.named(next((name for name in shown.names if name.endswith(suffix)), ""))


def _silent(running: Running) -> str:
    last = running.output().decode(errors="replace").strip().splitlines()[-3:]
    return "\n".join(["the provisioner did not answer after --start-cmd; its last words:", *last])
