"""A provisioner that repeats the secrets of its request in everything that it says: nothing of them is relayed.

It tries each way out of an answer, in each common encoding, whole and split. What is looked at is all that people and
programs get to see: errors on the wire, answers without user data, logs, metrics, traces, the terminal of the command
line, and the status, conditions and Events of a config.
"""

import asyncio
import base64
import hashlib
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry, generate_latest

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.service import BootstrapServicer
from slipway.cli.command_line import cli
from slipway.contract.errors import ForeignStatus, SlipwayError, UnsupportedFeature, UserDataTooLarge
from slipway.contract.redaction import redacted
from slipway.contract.status import Failure, Violation
from slipway.embedded.bootstrapper import compiler
from slipway.embedded.provisioners import embedded_provisioners
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.rpc.logs import configure_logging
from slipway.rpc.otlp import OtlpRecorder
from slipway.rpc.prometheus import PrometheusRecorder
from slipway.rpc.server import RpcServer, Service
from slipway.rpc.settings import ServerSettings
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import BootstrapServiceStub, add_BootstrapServiceServicer_to_server
from slipway.v1alpha1.reasons import Code
from tests.integration.full_request import full_request
from tests.integration.watched import embedded, shown
from tests.services.cli.conftest import EXAMPLES
from tests.services.controller.scene import CLUSTER, Scene

pytestmark = pytest.mark.long

PIECE = 16
_PEM = re.compile(rb"-----[A-Z ]+-----")
ENCODINGS: tuple[Callable[[bytes], str], ...] = (
    lambda value: value.decode(errors="replace"),
    lambda value: base64.b64encode(value).decode(),
    lambda value: base64.b64encode(b"x" + value).decode(),
    lambda value: value.hex(),
    lambda value: quote(value, safe=""),
)
SPLITS: tuple[Callable[[str], str], ...] = (
    lambda text: text,
    lambda text: "\n".join(text[at : at + 7] for at in range(0, len(text), 7)),
    lambda text: "".join(f"\x1b[3{at % 8}m{sign}" for at, sign in enumerate(text)),
    " ".join,
)
WAYS = ("refusal", "foreign", "reason", "size", "diagnostics", "media type", "attachment", "format", "version", "tag")


class Hostile:
    """Our own provisioners, whose answers repeat the secrets of the request in some way."""

    def __init__(self, way: str) -> None:
        self.way = way
        self.inner = embedded_provisioners()
        self.secrets: set[bytes] = set()
        self.number = 0

    def instances(self) -> Sequence[registrypb.ProvisionerInstance]:
        """Give the instances of our own."""
        return self.inner.instances()

    async def render(
        self, instance: registrypb.ProvisionerInstance, request: provisionerpb.RenderRequest, *, timeout: float
    ) -> provisionerpb.RenderResponse:
        """Render, and repeat."""
        values = [secret.value for secret in request.bundle.secrets.secrets]
        self.secrets |= set(values)
        encoding = ENCODINGS[self.number % len(ENCODINGS)]
        split = SPLITS[self.number // len(ENCODINGS) % len(SPLITS)]
        self.number += 1
        words = [split(encoding(value[:700])) for value in values]
        self._fail(words)
        answer = await self.inner.render(instance, request, timeout=timeout)
        self._answer(answer, words)
        return answer

    def _fail(self, words: list[str]) -> None:
        every = "\n".join(words)[:12_000]
        match self.way:
            case "refusal":
                violations = [Violation(f"os.files[{word}]", word, word, word) for word in words]
                raise UnsupportedFeature(every, violations=violations, metadata={"features": every})
            case "foreign":
                raise ForeignStatus(Failure(code=Code.UNKNOWN, message=every, metadata={every[:200]: every}))
            case "reason":
                raise ForeignStatus(Failure(code=Code.INTERNAL, reason=every[:300].upper(), message="x"))
            case "size":
                raise UserDataTooLarge(every, metadata={"size": every, "limit": every, "breakdown": every})

    def _answer(self, answer: provisionerpb.RenderResponse, words: list[str]) -> None:
        every = "\n".join(words)[:12_000]
        match self.way:
            case "diagnostics":
                for word in words:
                    answer.diagnostics.add(code=word, message=word, field_path=word)
            case "media type":
                answer.media_type = every
            case "attachment":
                answer.attachments.add(name=words[-1][:200], media_type=every, sha256=hashlib.sha256(b"").digest())
            case "format":
                answer.format = every
            case "version":
                answer.implementation_version = every
            case "tag":
                answer.request_tag = every


def pieces(secret: bytes) -> Iterator[str]:
    """Give every piece of a secret in each encoding, letters and digits alone."""
    for part in _PEM.split(secret):
        for encoding in ENCODINGS:
            letters = squeezed(encoding(part))
            for start in range(len(letters) - PIECE + 1):
                yield letters[start : start + PIECE]


def squeezed(text: str) -> str:
    """Give letters and digits in lower case, without escapes of a terminal, however an escape itself is written."""
    text = re.sub(r"(?:\x1b|\\u001b|\\x1b|\\033)?\[[0-9;]*m", "", text)
    return re.sub(r"[\W_]+", "", re.sub(r"\\[nrt]", "", text)).lower()


def leaked(secrets: set[bytes], *texts: str) -> list[str]:
    """Give the pieces of secrets that some text holds."""
    squeezed_texts = map(squeezed, texts)
    there = {text[start : start + PIECE] for text in squeezed_texts for start in range(len(text) - PIECE + 1)}
    long = {secret for secret in secrets if len(secret) >= PIECE}
    return sorted({piece for secret in long for piece in pieces(secret) if piece in there})


@asynccontextmanager
async def served(bootstrapper: Bootstrapper, recorders: Sequence[object]) -> AsyncIterator[str]:
    """Serve a bootstrapper, and give its address."""
    service = Service.of(
        bootstrappb.DESCRIPTOR.services_by_name["BootstrapService"],
        add_BootstrapServiceServicer_to_server,
        BootstrapServicer(bootstrapper),
    )
    settings = ServerSettings(listen_address="127.0.0.1:0", insecure=True)
    server = RpcServer(settings, [service], recorders=recorders)  # type: ignore[arg-type]
    await server.start()
    await server.health.set_all(serving=True)
    try:
        yield f"127.0.0.1:{server.port}"
    finally:
        await server.stop(grace=0)


def watched_by() -> tuple[list[object], Callable[[], str]]:
    """Give recorders of traces and metrics, and what they have recorded."""
    metrics, spans, traces = CollectorRegistry(), InMemorySpanExporter(), TracerProvider()
    traces.add_span_processor(SimpleSpanProcessor(spans))
    recorders = [PrometheusRecorder(metrics), OtlpRecorder(traces=traces, metrics=MeterProvider())]
    return (
        recorders,
        lambda: generate_latest(metrics).decode() + "".join(span.to_json() for span in spans.get_finished_spans()),
    )


@pytest.mark.timeout(180)
@pytest.mark.parametrize("way", WAYS)
async def test_nothing_that_a_provisioner_repeats_is_relayed(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Over the wire: errors and answers, logs, metrics and traces, in every encoding and split."""
    configure_logging(log_format="json", level="debug")
    hostile = Hostile(way)
    recorders, recorded = watched_by()
    relayed: list[str] = []
    wire: list[str] = []
    async with served(embedded(provisioners=hostile), recorders) as address:
        channels = ChannelPool(tls=None, trust_domain="slipway")
        stub = BootstrapServiceStub(channels.get(address, retries=False))
        for _ in range(len(ENCODINGS) * len(SPLITS)):
            try:
                answer = await invoke(stub.GetUserData, full_request(), timeout=30)
                relayed.append(str(redacted(answer)))
            except SlipwayError as error:
                relayed.append(f"{error} {error.violations} {error.metadata} {error.reason}")
                wire.append(shown(error).decode(errors="replace"))
        await channels.close()
    assert len(hostile.secrets) > 5
    texts = [*relayed, capsys.readouterr().err, recorded()]
    assert leaked(hostile.secrets, *texts, *wire) == []
    assert [text for text in texts if "\x1b" in text] == []


@pytest.mark.timeout(180)
@pytest.mark.parametrize("way", WAYS)
async def test_nothing_reaches_a_terminal(way: str) -> None:
    """Of the commands that ask for a rendering by a server, in tables, words and JSON."""
    hostile = Hostile(way)
    async with served(embedded(provisioners=hostile), watched_by()[0]) as address:
        flags = ["-f", str(EXAMPLES / "native.yaml"), "--server", address, "--insecure", "--provisioner", "cloud-init"]
        for command in (["render", "-o", "-"], ["size"], ["size", "-o", "json"], ["validate"], ["explain"]):
            arguments = [*command, *(flags if command[0] != "explain" else flags[:-2])]
            result = await asyncio.to_thread(CliRunner().invoke, cli, arguments)
            output = result.stderr if command[0] == "render" else result.output
            assert leaked(hostile.secrets, output) == [], command
            assert "\x1b" not in output
    assert hostile.number > 0


@pytest.mark.timeout(180)
@pytest.mark.parametrize("way", WAYS)
async def test_nothing_is_written_into_the_management_cluster(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Status, conditions and Events of a control plane's config, and the controller's log; data Secrets apart."""
    configure_logging(log_format="json", level="debug")
    hostile = Hostile(way)
    scene = Scene(bootstrapper=Bootstrapper(hostile, compiler(), version="0.0.0", store=None))
    scene.cluster()
    scene.plane()
    scene.workload_ready()
    scene.secret(f"{CLUSTER}-slipway-token-seed", {"value": b"s" * 32})
    for number in range(4):
        hostile.number = number * len(ENCODINGS) + number
        name = f"w{number}"
        scene.worker(name)
        await scene.reconcile(name)
        written = json.dumps([scene.status(name), *scene.api.all("Event")])
        assert leaked(hostile.secrets, written) == []
        assert "\\u001b" not in written
    assert leaked(hostile.secrets, capsys.readouterr().err) == []
    assert hostile.secrets


def test_what_leaks_is_seen() -> None:
    """All tests above can fail."""
    secret = hashlib.sha256(b"a").hexdigest().encode() * 2
    for encoding in ENCODINGS:
        for split in SPLITS:
            assert leaked({secret}, "x " + split(encoding(secret)) + " y")
    assert not leaked({secret}, Path(__file__).read_text())
