"""TLS as the servers use it: both sides prove who they are, and files may change under running processes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from slipway.certificates.authority import Authority as IssuingAuthority
from slipway.certificates.authority import Subject
from slipway.contract.errors import ForeignStatus, VersionSkew
from slipway.rpc.call import Call
from slipway.rpc.channel import ChannelPool, InsecureTargetError
from slipway.rpc.client import invoke, is_foreign_identity
from slipway.rpc.identity import Identity
from slipway.rpc.tls import NAMES, CertificateFiles, TlsFilesError
from slipway.v1alpha1.reasons import Code
from tests.sdk.rpc.conftest import Running, settings, unary
from tests.services.certificates import Authority

SPIFFE = "spiffe://slipway/provisioner/x"


def _secure(directory: Path, **more: object) -> object:
    return settings(insecure=False, tls_cert_dir=directory, **more)


def _pool(directory: Path) -> ChannelPool:
    return ChannelPool(tls=CertificateFiles(directory), trust_domain="slipway")


async def test_both_sides_prove_themselves(running: Running, tmp_path: Path) -> None:
    """The server learns the caller's SPIFFE id from its certificate."""
    seen: list[Identity | None] = []

    def note(call: Call, identity: Identity | None) -> None:
        seen.append(identity)

    directory = Authority().fill(tmp_path, uris=[SPIFFE])
    async with running(_secure(directory), policy=note) as (_, channel):
        assert await invoke(unary(channel, "Echo"), b"x", timeout=5) == b"x"
    assert seen == [Identity((SPIFFE,))]
    assert seen[0] is not None
    assert seen[0].owns(trust_domain="slipway", role="provisioner", name="x")
    assert not seen[0].owns(trust_domain="slipway", role="provisioner", name="y")
    assert not seen[0].owns(trust_domain="other", role="provisioner", name="x")


@pytest.mark.parametrize(
    ("uris", "reason"),
    [
        ([SPIFFE, "spiffe://slipway/client/b"], "two roles"),
        ([SPIFFE, "spiffe://elsewhere/provisioner/x"], "two trust domains"),
        ([SPIFFE, SPIFFE], "one id twice"),
        (["SPIFFE://slipway/client/b", SPIFFE], "a scheme in capital letters is the same scheme"),
        ([SPIFFE, "https://not.spiffe"], "another URI beside it"),
        (["https://not.spiffe"], "another URI alone"),
    ],
)
async def test_a_certificate_with_several_uris_names_nobody(
    running: Running, tmp_path: Path, *, uris: list[str], reason: str
) -> None:
    """No caller has a second role: SPIFFE allows one URI, and no check takes the one of several that suits it."""
    seen: list[Identity | None] = []

    def note(call: Call, identity: Identity | None) -> None:
        seen.append(identity)

    directory = Authority().fill(tmp_path, uris=uris)
    async with running(_secure(directory), policy=note) as (_, channel):
        assert await invoke(unary(channel, "Echo"), b"x", timeout=5) == b"x"
    assert seen == [Identity(())], reason


async def test_a_caller_of_another_authority_is_refused(running: Running, tmp_path: Path) -> None:
    """A certificate that the server's authority did not issue does not get in."""
    ours, theirs = Authority(), Authority()
    server_dir, client_dir = ours.fill(tmp_path / "server"), theirs.fill(tmp_path / "client")
    (client_dir / "ca.crt").write_bytes(ours.certificate)
    pool = _pool(client_dir)
    async with running(_secure(server_dir)) as (server, _):
        with pytest.raises(ForeignStatus) as caught:
            await invoke(unary(pool.get(f"localhost:{server.port}", retries=False), "Echo"), b"", timeout=5)
        await pool.close()
    assert caught.value.code is Code.UNAVAILABLE


@pytest.mark.parametrize(
    ("demanded", "through", "reason"),
    [
        ("x", True, "the server is that provisioner"),
        ("y", False, "the server is another one"),
        (None, True, "nothing demanded: the host name decides"),
    ],
)
async def test_a_caller_demands_a_provisioner(
    running: Running, tmp_path: Path, *, demanded: str | None, through: bool, reason: str
) -> None:
    """A bundle with CA keys goes only to the process whose certificate has the pinned name."""
    directory = Authority().fill_provisioner(tmp_path, name="x")
    pool = _pool(directory)
    async with running(_secure(directory)) as (server, _):
        channel = pool.get(f"localhost:{server.port}", provisioner=demanded, retries=False)
        call = invoke(unary(channel, "Echo"), b"x", timeout=5)
        if through:
            assert await call == b"x", reason
        else:
            with pytest.raises(ForeignStatus) as caught:
                await call
            assert is_foreign_identity(caught.value), reason
        await pool.close()


@pytest.mark.parametrize(
    ("shown", "demanded", "through"),
    [
        ("registry", "registry", True),
        ("bootstrapper", "bootstrapper", True),
        ("controller", "bootstrapper", True),
        ("provisioner", "registry", False),
        ("provisioner", "bootstrapper", False),
        ("client", "registry", False),
        ("registry", "bootstrapper", False),
        ("bootstrapper", "registry", False),
    ],
)
async def test_a_caller_demands_a_role(
    running: Running, tmp_path: Path, *, shown: str, demanded: str, through: bool
) -> None:
    """A certificate of the right authority, for the right host, but for another role, gets no request."""
    authority = IssuingAuthority(trust_domain="slipway", now=datetime.now(UTC), validity=timedelta(hours=1))
    issued = authority.issue(Subject(shown, "x", ("localhost", "127.0.0.1", "::1")))
    for name, content in zip(NAMES, (issued.certificate, issued.key, authority.certificate), strict=True):
        (tmp_path / name).write_bytes(content)
    pool = _pool(tmp_path)
    async with running(_secure(tmp_path)) as (server, _):
        call = invoke(
            unary(pool.get(f"localhost:{server.port}", role=demanded, retries=False), "Echo"), b"x", timeout=5
        )
        if through:
            assert await call == b"x"
        else:
            with pytest.raises(ForeignStatus) as caught:
                await call
            assert is_foreign_identity(caught.value)
        await pool.close()


async def test_new_files_are_followed_by_both_sides(running: Running, tmp_path: Path) -> None:
    """With a new authority old certificates stop to work for new connections, and nobody was restarted."""
    directory = Authority().fill(tmp_path / "tls")
    old = Authority()
    old_dir = old.fill(tmp_path / "old")
    pool = _pool(directory)
    async with running(_secure(directory)) as (server, _):
        target = f"localhost:{server.port}"
        first = pool.get(target)
        assert await invoke(unary(first, "Echo"), b"1", timeout=5) == b"1"
        assert pool.get(target) is first
        Authority().fill(directory)
        second = pool.get(target)
        assert second is not first
        assert await invoke(unary(second, "Echo"), b"2", timeout=5) == b"2"
        stale = _pool(old_dir)
        with pytest.raises(ForeignStatus):
            await invoke(unary(stale.get(target, retries=False), "Echo"), b"3", timeout=5)
        await stale.close()
        await pool.close()


async def test_a_broken_change_keeps_the_last_good_files(running: Running, tmp_path: Path) -> None:
    """A half-done rotation (new key, old certificate) stops neither side."""
    authority = Authority()
    directory = authority.fill(tmp_path / "tls")
    other = authority.fill(tmp_path / "other")
    pool = _pool(directory)
    async with running(_secure(directory)) as (server, _):
        target = f"localhost:{server.port}"
        first = pool.get(target)
        (directory / "tls.key").write_bytes((other / "tls.key").read_bytes())
        assert pool.get(target) is first
        assert await invoke(unary(pool.get(target), "Echo"), b"1", timeout=5) == b"1"
        (directory / "ca.crt").unlink()
        fresh = _pool(other)
        assert await invoke(unary(fresh.get(target), "Echo"), b"2", timeout=5) == b"2"
        await fresh.close()
        await pool.close()


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda d: (d / "ca.crt").unlink(), "ca.crt missing"),
        (lambda d: (d / "tls.key").unlink(), "tls.key missing"),
        (lambda d: (d / "tls.crt").write_text("not PEM"), "broken PEM"),
        (lambda d: (d / "ca.crt").write_text(""), "empty authority"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, *, spoil: object, reason: str) -> None:
    """The operator reads which directory and what it needs; key material is in no text."""
    directory = Authority().fill(tmp_path)
    spoil(directory)  # type: ignore[operator]
    with pytest.raises(TlsFilesError, match=str(directory)) as caught:
        CertificateFiles(directory).read()
    assert "PRIVATE" not in repr(caught.value), reason


def test_the_key_is_not_in_the_repr(tmp_path: Path) -> None:
    """A log line of the certificates would not hold the key."""
    assert b"PRIVATE" not in repr(CertificateFiles(Authority().fill(tmp_path)).read()).encode()


@pytest.mark.parametrize("target", ["10.0.0.1:1", "dns:///example.org:9443", "[2001:db8::1]:1", "example.org:1"])
async def test_without_tls_nobody_else_is_called(target: str) -> None:
    """A bundle never crosses a network in the clear."""
    with pytest.raises(InsecureTargetError):
        ChannelPool(tls=None, trust_domain="slipway").get(target)


async def test_health_alone_is_plain_for_the_kubelet(running: Running, tmp_path: Path, unused_port: int) -> None:
    """Probes need no certificate; the port serves health and nothing else."""
    directory = Authority().fill(tmp_path)
    plain = ChannelPool(tls=None, trust_domain="slipway")
    address = f"127.0.0.1:{unused_port}"
    async with running(_secure(directory, health_address=address)):
        channel = plain.get(address, retries=False)
        stub = health_pb2_grpc.HealthStub(channel)
        answer = await invoke(stub.Check, health_pb2.HealthCheckRequest(), timeout=5)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
        with pytest.raises(VersionSkew) as caught:
            await invoke(unary(channel, "Echo"), b"", timeout=5)
        assert caught.value.code is Code.UNIMPLEMENTED
        await plain.close()
