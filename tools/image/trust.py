"""Tries to get in without the right to: what every installation with TLS must refuse, whoever started it."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from slipway.certificates.authority import Authority, Subject
from slipway.contract.errors import SlipwayError
from slipway.rpc.addresses import host_of, port_of
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tools.image.doors import CALL_SECONDS, Doors

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
_SERVED = "SERVED"
_NO_CONNECTION = "NO_CONNECTION"


@dataclass(frozen=True, slots=True)
class Trial:
    """One try, what must come of it and what came."""

    what: str
    expected: str
    observed: str

    @property
    def passed(self) -> bool:
        """Whether it went as it must."""
        return self.observed == self.expected


async def trials(doors: Doors, endpoints: Mapping[str, str], *, foreign: Path) -> Sequence[Trial]:
    """Make all tries.

    Args:
        doors: the installation.
        endpoints: where the registry reaches the provisioners "talos" and "ignition".
        foreign: an empty folder for the certificates of strangers.
    """
    stranger = _stranger(foreign, doors.certificates / "client" / "ca.crt")
    own = doors.certificates
    talos, ignition = endpoints["talos"], endpoints["ignition"]
    table: list[tuple[str, str, Callable[[], Awaitable[str]]]] = [
        ("the registry, by its client", _SERVED, lambda: _shake(doors.registry, own / "client")),
        ("the bootstrapper, by its client", _SERVED, lambda: _shake(doors.bootstrapper, own / "client")),
        ("the registry, without a certificate", _NO_CONNECTION, lambda: _shake(doors.registry, None)),
        ("the bootstrapper, without a certificate", _NO_CONNECTION, lambda: _shake(doors.bootstrapper, None)),
        ("the registry, by a stranger", "UNAVAILABLE", lambda: _list(doors, stranger)),
        ("the bootstrapper, by a stranger", "UNAVAILABLE", lambda: _ask(doors, stranger)),
        ("the bootstrapper, by a provisioner", "PERMISSION_DENIED", lambda: _ask(doors, own / "talos")),
        ("the bootstrapper, by the registry", "PERMISSION_DENIED", lambda: _ask(doors, own / "registry")),
        ("the bootstrapper, by its client, with nothing", "SPEC_INVALID", lambda: _ask(doors, own / "client")),
        ("to register as a client", "IDENTITY_MISMATCH", lambda: _register(doors, "client", "talos", talos)),
        ("to register another's name", "IDENTITY_MISMATCH", lambda: _register(doors, "talos", "ignition", ignition)),
        ("to register another's endpoint", "IDENTITY_MISMATCH", lambda: _register(doors, "talos", "talos", ignition)),
        ("to register a name not allowed", "PROVISIONER_NOT_ALLOWED", lambda: _register(doors, "talos", "x", talos)),
    ]
    return [Trial(what, expected, await act()) for what, expected, act in table]


def _stranger(folder: Path, trusted: Path) -> Path:
    """Make a client's certificate by an authority that nobody trusts; the stranger itself trusts the installation."""
    authority = Authority(trust_domain="slipway", now=datetime.now(UTC), validity=timedelta(hours=1))
    issued = authority.issue(Subject("client", "client"))
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("tls.crt", issued.certificate), ("tls.key", issued.key), ("ca.crt", trusted.read_bytes())):
        (folder / name).write_bytes(content)
    return folder


async def _shake(address: str, certificates: Path | None) -> str:
    """Connect by TLS alone and say whether an HTTP/2 server answers."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    if certificates:
        context.load_cert_chain(certificates / "tls.crt", certificates / "tls.key")
    try:
        async with asyncio.timeout(CALL_SECONDS):
            reader, writer = await asyncio.open_connection(host_of(address), port_of(address), ssl=context)
            try:
                writer.write(_PREFACE)
                return _SERVED if await reader.read(1) else _NO_CONNECTION
            finally:
                writer.transport.abort()
    except OSError:
        return _NO_CONNECTION


async def _list(doors: Doors, certificates: Path) -> str:
    async with doors.caller(certificates) as caller:
        return await _outcome(caller.provisioners())


async def _ask(doors: Doors, certificates: Path) -> str:
    async with doors.caller(certificates) as caller:
        return await _outcome(caller.user_data(bootstrappb.Subject()))


async def _register(doors: Doors, who: str, name: str, endpoint: str) -> str:
    async with doors.caller(doors.certificates / who) as caller:
        return await _outcome(caller.register(name, endpoint))


async def _outcome(call: Awaitable[object]) -> str:
    try:
        await call
    except SlipwayError as error:
        return error.reason or error.code.name
    return _SERVED
