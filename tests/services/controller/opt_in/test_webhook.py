"""The webhook's server: TLS by the files of a directory, one path, and answers to anything that is sent."""

import asyncio
import contextlib
import http.client
import json
import ssl
import tracemalloc
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from slipway.controller import ownership
from slipway.controller.opt_in.webhook import PATH, Webhook
from slipway.controller.settings import ControllerSettings
from slipway.rpc.connections import Bounds
from tests.services.certificates import Authority

REVIEW = {
    "apiVersion": "admission.k8s.io/v1",
    "kind": "AdmissionReview",
    "request": {
        "uid": "u-1",
        "operation": "CREATE",
        "kind": {"group": "bootstrap.cluster.x-k8s.io", "version": "v1beta2", "kind": "KubeadmConfig"},
        "object": {"metadata": {"name": "w", "labels": {ownership.MANAGED: "true"}}},
    },
}


@dataclass
class Served:
    """A webhook that listens."""

    webhook: Webhook
    authority: Authority
    directory: Path

    async def ask(self, body: bytes, *, path: str = PATH, host: str | None = None) -> tuple[int, str, bytes]:
        """Post something by a connection of its own; give status, text and the server's certificate."""
        return await asyncio.to_thread(self._ask, body, path, host or "127.0.0.1")

    def _ask(self, body: bytes, path: str, host: str) -> tuple[int, str, bytes]:
        context = ssl.create_default_context(cadata=self.authority.certificate.decode())
        port = urlsplit(self.webhook.url).port
        with contextlib.closing(http.client.HTTPSConnection(host, port, context=context, timeout=60)) as connection:
            connection.connect()
            shown = connection.sock.getpeercert(binary_form=True)
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read().decode(), shown


@pytest.fixture
async def served(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Served]:
    authority = Authority()
    bounds = Bounds(seconds=getattr(request, "param", Bounds().seconds))
    webhook = Webhook(host="127.0.0.1", port=0, certificates=authority.fill(tmp_path), bounds=bounds)
    await webhook.start()
    yield Served(webhook, authority, tmp_path)
    await webhook.stop()


async def test_a_review_is_answered(served: Served) -> None:
    """By TLS, with the uid of the request and a patch."""
    status, text, _ = await served.ask(json.dumps(REVIEW).encode())
    answer = json.loads(text)
    assert status == 200
    assert (answer["response"]["uid"], answer["response"]["allowed"]) == ("u-1", True)
    assert answer["response"]["patchType"] == "JSONPatch"


@pytest.mark.parametrize("host", [None, "localhost"], ids=["by address", "by name"])
async def test_a_renewed_certificate_is_shown_at_once(served: Served, host: str | None) -> None:
    """Files that change are followed at the next connection, whether or not the caller names the server."""
    before = (await served.ask(json.dumps(REVIEW).encode(), host=host))[2]
    served.authority.fill(served.directory)
    after = (await served.ask(json.dumps(REVIEW).encode(), host=host))[2]
    assert before != after


async def test_half_a_renewal_changes_nothing(served: Served) -> None:
    """A certificate without its key yet: the pair from before serves until both are there."""
    before = (await served.ask(json.dumps(REVIEW).encode()))[2]
    key = (served.directory / "tls.key").read_bytes()
    served.authority.fill(served.directory)
    (served.directory / "tls.key").write_bytes(key)
    assert (await served.ask(json.dumps(REVIEW).encode()))[2] == before
    served.authority.fill(served.directory)
    assert (await served.ask(json.dumps(REVIEW).encode()))[2] != before


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, json.dumps({"request": 1}).encode()])
async def test_what_is_no_review_is_refused(served: Served, body: bytes) -> None:
    """A client's error, without a trace of what was sent."""
    status, text, _ = await served.ask(body)
    assert (status, text) == (400, "no AdmissionReview of version v1")


@pytest.mark.parametrize("served", [100.0], indirect=True, ids=["even where tracing takes long"])
@pytest.mark.parametrize("values", [b"{},", b'{"":1},', b'{"":{"":{"":{}}}},'])
async def test_a_review_of_very_many_values_is_refused_before_it_is_read(served: Served, values: bytes) -> None:
    """Of a body that is short enough 300 MiB of objects would be made: more than the process has to spare."""
    body = b'{"request": [' + values * (6 * 2**20 // len(values)) + b"1]}"
    tracemalloc.start()
    try:
        status, text, _ = await served.ask(body)
        assert tracemalloc.get_traced_memory()[1] < 40 * 2**20
    finally:
        tracemalloc.stop()
    assert (status, text) == (400, "no AdmissionReview of version v1")


async def test_there_is_one_path(served: Served) -> None:
    """Nothing else is served beside it."""
    assert (await served.ask(b"{}", path="/"))[0] == 404


async def test_too_much_is_refused(served: Served) -> None:
    """A body that no object can have is not read to its end: refused, or the line goes dead while it is sent."""
    try:
        status, _, _ = await served.ask(b" " * (9 * 2**20))
    except OSError:
        return
    assert status == 413


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"webhook_address": "[::]:9444", "tls_cert_dir": "/certs"}, ("::", 9444, Path("/certs"))),
        ({"webhook_address": "127.0.0.1:1", "tls_cert_dir": "/certs"}, ("127.0.0.1", 1, Path("/certs"))),
        ({"tls_cert_dir": "/certs"}, None),
    ],
)
def test_the_address_is_a_setting(given: dict[str, Any], expected: object) -> None:
    """Host and port as everywhere; without it there is no webhook."""
    assert ControllerSettings(registry_address="registry:9443", **given).webhook == expected


@pytest.mark.parametrize(
    "given",
    [
        {"webhook_address": "127.0.0.1:1", "insecure": True, "listen_address": "127.0.0.1:2"},
        {"webhook_address": "9444", "tls_cert_dir": "/certs"},
    ],
    ids=["without TLS", "no port"],
)
def test_an_address_that_can_not_serve_is_refused(given: dict[str, Any]) -> None:
    """An API server asks by TLS only."""
    with pytest.raises(ValueError, match="webhook"):
        ControllerSettings(registry_address="registry:9443", **given)
