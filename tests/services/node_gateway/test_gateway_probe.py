"""The health check of a container: as the gateway answers, and as it does not."""

import asyncio
from pathlib import Path

import pytest

from slipway.node_gateway.probe import main
from slipway.rpc.addresses import free_port
from tests.services.certificates import Authority
from tests.services.node_gateway.served import gateway


async def test_a_gateway_that_serves_is_healthy(tmp_path: Path) -> None:
    """With TLS by its authority; by another one it is not known."""
    authority = Authority()
    certificates = authority.fill(tmp_path / "certs")
    (tmp_path / "ca.crt").write_bytes(authority.certificate)
    (tmp_path / "foreign.crt").write_bytes(Authority().certificate)
    async with gateway(tmp_path / "store", tls_cert_dir=certificates) as client:
        assert client._base_url is not None
        url = f"https://127.0.0.1:{client._base_url.port}"
        assert await asyncio.to_thread(main, [url, str(tmp_path / "ca.crt")]) == 0
        assert await asyncio.to_thread(main, [url, str(tmp_path / "foreign.crt")]) == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([f"http://127.0.0.1:{free_port()}"], 1),
        (["https://127.0.0.1:1", "/nonexistent"], 1),
        ([], 2),
        (["127.0.0.1:9443"], 2),
        (["file:///etc/passwd"], 2),
    ],
)
def test_what_does_not_answer_is_not_healthy(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says so, without a traceback; wrong usage has a code of its own."""
    assert main(arguments) == code
    assert len(capsys.readouterr().err.splitlines()) == 1
