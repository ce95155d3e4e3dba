"""TRN: how the process is started and ended. All of it needs --start-cmd."""

from dataclasses import replace
from pathlib import Path

from slipway.conformance.check import Checks, Need
from slipway.conformance.launcher import Setup, free_address
from slipway.conformance.outcome import Broken, NotRun, expect
from slipway.conformance.session import Session
from slipway.conformance.subject import Subject

CHECKS = Checks()
_OTHER_WORDS = ("1", "TRUE")
"""Words for yes that many libraries take."""


@CHECKS.check("TRN-010", Need.PROCESS, slow=True)
async def flags(session: Session) -> None:
    """It listens where a flag says, with the certificates or without TLS as a flag says."""
    async with session.process(replace(session.setup(), by_flags=True)) as (_, subject):
        got = await subject.info()
        expect(got.ok, f"started by flags it answered {got.described()}")


@CHECKS.check("TRN-010", Need.PROCESS, slow=True)
async def registry_flag(session: Session) -> None:
    """It announces itself where a flag says."""
    async with session.registry() as registry:
        setup = replace(session.setup(registry=registry.address), by_flags=True)
        async with session.process(setup):
            came = await registry.until(lambda: registry.of("Register"), session.options.patience.start)
            expect(came, "started with --registry-address it did not call Register")


@CHECKS.check("TRN-011", Need.PROCESS, slow=True)
async def environment(session: Session) -> None:
    """It listens where the environment says, whatever else is in it."""
    strange = {"SLIPWAY_CONFORMANCE_UNHEARD_OF": "anything"}
    async with session.process(replace(session.setup(), environment=strange)) as (_, subject):
        got = await subject.info()
        expect(got.ok, f"started by the environment it answered {got.described()}")


@CHECKS.check("TRN-012", Need.PROCESS, slow=True)
async def flag_before_variable(session: Session) -> None:
    """Of a flag and a variable that say different addresses the flag counts."""
    other = {"SLIPWAY_LISTEN_ADDRESS": free_address()}
    async with session.process(replace(session.setup(), by_flags=True, environment=other)) as (_, subject):
        got = await subject.info()
        expect(got.ok, "it listens where the variable says, and not where the flag says")


@CHECKS.check("TRN-014", Need.PROCESS, slow=True)
async def neither(session: Session) -> None:
    """Without a word on TLS it refuses to start."""
    await _refuses(session, Setup(listen=free_address()), "without --tls-cert-dir and --insecure")


@CHECKS.check("TRN-015", Need.PROCESS, slow=True)
async def both(session: Session) -> None:
    """With both words on TLS it refuses to start."""
    folder = session.setup().tls_cert_dir or session.folder
    setup = Setup(listen=free_address(), tls_cert_dir=folder, insecure=True)
    await _refuses(session, setup, "with both --tls-cert-dir and --insecure")


@CHECKS.check("TRN-016", Need.PROCESS, slow=True)
async def insecure_for_everybody(session: Session) -> None:
    """Without TLS it does not listen on all addresses, nor takes another one by itself."""
    port = free_address().rpartition(":")[2]
    await _refuses(session, Setup(listen=f"0.0.0.0:{port}", insecure=True), "with 0.0.0.0 as its address and no TLS")
    await _refuses(session, Setup(listen=None, insecure=True), "with --insecure and without --listen-address")


@CHECKS.check("TRN-017", Need.PROCESS, slow=True)
async def address_taken(session: Session) -> None:
    """An address that is taken is an error."""
    await _refuses(session, session.setup(listen=session.subject.endpoint), "with an address that is in use")


@CHECKS.check("TRN-017", Need.PROCESS, slow=True)
async def certificates_missing(session: Session) -> None:
    """A certificate directory with nothing in it is an error."""
    empty = session.folder / "empty"
    empty.mkdir(exist_ok=True)
    setup = Setup(listen=free_address(), tls_cert_dir=Path(empty))
    await _refuses(session, setup, "with a certificate directory that is empty")


@CHECKS.check("TRN-018", Need.PROCESS, slow=True)
async def drain(session: Session) -> None:
    """SIGTERM ends it, with exit code 0, in time."""
    async with session.process() as (running, _):
        running.terminate()
        seconds = session.options.patience.end
        code = await session.ended(running, seconds)
        if code is None:
            raise Broken(f"it still runs {seconds:.0f} seconds after SIGTERM")
        expect(code == 0, f"after SIGTERM it ended with exit code {code}")


@CHECKS.check("TRN-021", Need.PROCESS, slow=True)
async def other_words(session: Session) -> None:
    """A word for yes that is not the contract's is no yes, and is not passed over either."""
    for word in _OTHER_WORDS:
        setup = Setup(listen=free_address(), environment={"SLIPWAY_INSECURE": word})
        await _refuses(session, setup, f"with SLIPWAY_INSECURE={word}")
    if session.secure:
        setup = replace(session.setup(), environment={"SLIPWAY_INSECURE": _OTHER_WORDS[0]})
        await _refuses(session, setup, f"with SLIPWAY_INSECURE={_OTHER_WORDS[0]} beside certificates")


@CHECKS.check("TRN-021", Need.PROCESS, slow=True)
async def said_no(session: Session) -> None:
    """A variable that says no does not take TLS away, and is no reason not to serve with it."""
    said = {"SLIPWAY_INSECURE": "false"}
    await _refuses(
        session, Setup(listen=free_address(), environment=said), "with SLIPWAY_INSECURE=false and without certificates"
    )
    if session.secure:
        async with session.process(replace(session.setup(), environment=said)) as (_, subject):
            got = await subject.info()
            expect(got.ok, f"with SLIPWAY_INSECURE=false beside certificates it answered {got.described()}")


@CHECKS.check("TRN-021", Need.PROCESS, slow=True)
async def empty_variables(session: Session) -> None:
    """A variable that is empty says nothing."""
    setup = session.setup()
    others = {"SLIPWAY_TLS_CERT_DIR", "SLIPWAY_INSECURE", "SLIPWAY_REGISTRY_ADDRESS"} - setup.variables().keys()
    async with session.process(replace(setup, environment=dict.fromkeys(others, ""))) as (_, subject):
        got = await subject.info()
        expect(got.ok, f"with empty variables besides it answered {got.described()}")


@CHECKS.check("TRN-022", Need.PROCESS, slow=True)
async def unknown_flag(session: Session) -> None:
    """A flag that it does not know, which may be a misspelt one, is no flag to go on without."""
    setup = replace(session.setup(), by_flags=True, more_flags=("--conformance-unheard-of",))
    await _refuses(session, setup, "with an unknown flag")


async def _refuses(session: Session, setup: Setup, when: str) -> None:
    """Start it and see it end with an exit code other than 0."""
    if session.launcher is None:
        raise NotRun("there is no --start-cmd")
    running = await session.launcher.start(setup)
    host, _, port = str(setup.listen).rpartition(":")
    shown = None if setup.insecure or setup.tls_cert_dir is None else session.credentials
    subject = Subject(f"{host.replace('0.0.0.0', '127.0.0.1')}:{port}", shown)  # noqa: S104  # replaced, not bound
    try:
        # Somebody else may listen where it would by itself.
        serves = setup.listen and await session.answers(running, subject, session.options.patience.refusal)
        code = await running.ended(0)
        # Who is told to listen where somebody listens already is not who answers there.
        if code is None and serves and setup.listen != session.subject.endpoint:
            raise Broken(f"{when} it serves")
        code = await session.ended(running, session.options.patience.refusal) if code is None else code
        if code is None:
            raise Broken(f"{when} it goes on running")
        expect(code != 0, f"{when} it ended with exit code 0")
    finally:
        await subject.close()
        await running.kill()
