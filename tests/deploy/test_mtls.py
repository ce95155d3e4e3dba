"""The whole of Slipway with mutual TLS, as separate processes: who gets in, what gets through, what renewal costs."""

import asyncio
import shutil
import ssl
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from slipway.contract.errors import ForeignStatus, SlipwayError
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tests.deploy.loopback import PROVISIONERS, Loopback
from tests.integration.documents import questions
from tools.image.doors import Caller
from tools.image.trust import trials

# One process has all tests, and starts the services once.
pytestmark = [pytest.mark.long, pytest.mark.xdist_group("mtls")]

_EXAMPLE = Path(__file__).parents[2] / "examples" / "native.yaml"
_MARKS = {"cloud-init": b"#cloud-config", "ignition": b'{"ignition"', "talos": b"version: v1alpha1"}
_SECONDS = 90.0


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loopback]:
    """Six services that run and are registered."""
    loopback = Loopback(tmp_path_factory.mktemp("mtls"))
    try:
        loopback.start()
        asyncio.run(_registered(loopback))
        yield loopback
    finally:
        loopback.kill()


def subject(name: str) -> bootstrappb.Subject:
    """A machine of the example; each call gives a new one."""
    return questions(_EXAMPLE)[name].subject


async def until(reached: Callable[[], Awaitable[bool]], what: str) -> None:
    """Wait for something that processes do in their own time."""
    try:
        async with asyncio.timeout(_SECONDS):
            while not await reached():  # noqa: ASYNC110  # another process has no event
                await asyncio.sleep(0.05)
    except TimeoutError:
        pytest.fail(f"not within {_SECONDS:.0f} s: {what}")


async def _registered(loopback: Loopback) -> None:
    async def reached() -> bool:
        assert not [name for name, process in loopback.processes.items() if process.poll() is not None]
        return await caller.ready() == set(PROVISIONERS) and await _renders(caller)

    async with loopback.doors.caller() as caller:
        await until(reached, "all provisioners are registered, and the bootstrapper knows them")


async def _renders(caller: Caller) -> bool:
    try:
        for name in _MARKS:
            await caller.user_data(subject("harbour-worker"), name)
    except SlipwayError:
        return False
    return True


@pytest.mark.parametrize("provisioner", sorted(_MARKS))
async def test_user_data_crosses_all_of_it(installation: Loopback, provisioner: str) -> None:
    """Client, bootstrapper and provisioner prove themselves to each other, and the machine's user data comes out."""
    async with installation.doors.caller() as caller:
        answer = await caller.user_data(subject("harbour-cp-0"), provisioner)
    assert _MARKS[provisioner] in answer.user_data[:200]
    assert answer.provisioner.name == provisioner


async def test_the_list_tells_who_proved_to_be_whom(installation: Loopback) -> None:
    """The registry notes the identity that each provisioner's own endpoint has shown."""
    async with installation.doors.caller() as caller:
        listed = {provisioner.info.name: provisioner.identity for provisioner in await caller.provisioners()}
    assert listed == {name: f"spiffe://slipway/provisioner/{name}" for name in PROVISIONERS}


async def test_nobody_else_gets_in(installation: Loopback, tmp_path: Path) -> None:
    """No certificate, a foreign one, a wrong role, another's name: each is refused for its own reason."""
    made = await trials(installation.doors, installation.addresses, foreign=tmp_path)
    assert [trial for trial in made if not trial.passed] == []


def test_keys_are_for_the_service_alone(installation: Loopback) -> None:
    """A key is readable by its owner and group; who is neither cannot even look into the folder."""
    for folder in (installation.folder / "certs").iterdir():
        modes = {path.name: path.stat().st_mode & 0o7777 for path in (folder, *folder.iterdir())}
        assert modes == {folder.name: 0o750, "tls.key": 0o640, "tls.crt": 0o644, "ca.crt": 0o644}


async def test_renewal_fails_no_call(installation: Loopback, tmp_path: Path) -> None:
    """Certificates of a new authority are taken up by everybody while calls go on; not one of them fails.

    After the second renewal the authority before the first is out: its certificates are worth nothing any more.
    """
    doors = installation.doors
    outdated = shutil.copytree(doors.certificates / "client", tmp_path / "outdated")
    started = {name: len(installation.log(name)) for name in PROVISIONERS}
    calls = 0
    enough = asyncio.Event()

    async def go_on() -> None:
        nonlocal calls
        async with doors.caller() as caller:
            while not enough.is_set():
                for name in _MARKS:
                    await caller.user_data(subject("harbour-worker"), name)
                    calls += 1

    calling = asyncio.ensure_future(go_on())
    for _ in range(2):
        await asyncio.to_thread(installation.renew)
        await _all_follow(installation, since=datetime.now(UTC))
        after = calls + len(_MARKS)
        await until(lambda after=after: _more(calling, lambda: calls > after), "calls go on")
    enough.set()
    await calling
    async with doors.caller(outdated) as stale:
        with pytest.raises(ForeignStatus):
            await stale.provisioners()
    since_then = [one for name, lines in started.items() for one in installation.log(name)[lines:]]
    assert not [one for one in since_then if one["level"] in {"warning", "error"}]


async def _all_follow(installation: Loopback, *, since: datetime) -> None:
    """Wait until every service shows a new certificate and every lease was renewed with one."""
    doors = installation.doors
    authority = _newest(doors.certificates / "client" / "ca.crt")
    for name, address in installation.addresses.items():
        await until(lambda a=address: _shows(a, authority, doors.certificates / "client"), f"{name} has renewed")
    async with doors.caller() as caller:
        await until(lambda: _renewed_since(caller, since), "all leases were renewed")
        assert await caller.ready() == set(PROVISIONERS)


def _newest(path: Path) -> str:
    return x509.load_pem_x509_certificates(path.read_bytes())[0].public_bytes(Encoding.PEM).decode()


async def _shows(address: str, authority: str, client: Path) -> bool:
    """Whether the certificate at an address is of this authority and no other."""
    context = ssl.create_default_context(cadata=authority)
    context.load_cert_chain(client / "tls.crt", client / "tls.key")
    host, port = address.split(":")
    try:
        _, writer = await asyncio.open_connection(host, int(port), ssl=context)
    except OSError:
        return False
    writer.transport.abort()
    return True


async def _renewed_since(caller: Caller, moment: datetime) -> bool:
    listed = await caller.provisioners()
    return all(one.renew_time.ToDatetime(tzinfo=UTC) > moment for one in listed)


async def _more(calling: "asyncio.Future[None]", reached: Callable[[], bool]) -> bool:
    if calling.done():
        await calling
    return reached()


async def test_draining_ends_well(tmp_path: Path) -> None:
    """SIGTERM ends every service with 0 within its grace; all that they wrote is JSON, bad handshakes or not."""
    loopback = Loopback(tmp_path)
    try:
        loopback.start()
        await _registered(loopback)
        await trials(loopback.doors, loopback.addresses, foreign=tmp_path / "foreign")
        assert set((await asyncio.to_thread(loopback.stop)).values()) == {0}
    finally:
        loopback.kill()
    for name in loopback.processes:  # A call that was cut off may say so behind it.
        assert "stopped" in {line["event"] for line in loopback.log(name)}
