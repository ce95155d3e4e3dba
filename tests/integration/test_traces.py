"""A trace shows where the time of a machine's user data went, and nothing that is in them."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.contract.errors import SlipwayError
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.rpc.logs import configure_logging
from slipway.rpc.otlp import OtlpRecorder
from slipway.rpc.spans import end_spans, export_spans, span
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb

CANARY = "S3CR3T-canary"
ATTRIBUTES = {"machine", "bundle_id", "format", "provisioner", "engine", "pass", "namespace"}


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """Keep all spans in memory."""
    kept = InMemorySpanExporter()
    traces = TracerProvider()
    traces.add_span_processor(SimpleSpanProcessor(kept))
    recorder = OtlpRecorder(traces=traces, metrics=MeterProvider())
    export_spans(recorder.inner)
    yield kept
    end_spans(recorder.inner)


def _request() -> bootstrappb.GetUserDataRequest:
    path = Path("examples/native.yaml")
    question = read_document_set({path.name: path.read_text(encoding="utf-8")}, variables={}).questions[-1]
    request = bootstrappb.GetUserDataRequest(subject=question.subject, accept_attachments=True)
    request.subject.spec.provisioner.name = "cloud-init"
    request.subject.spec.os.files.add(path="/etc/canary").content.text = CANARY
    request.subject.spec.os.links.add(path="/etc/link", target="canary")
    return request


async def test_the_stages_of_a_machine_are_spans_of_one_trace(spans: InMemorySpanExporter) -> None:
    """Check, assembly, the engine's plan, each pass, Render and the fit, each below what it belongs to."""
    bootstrapper = embedded_bootstrapper(store=PlaceholderStore())
    with span("whole"):
        await bootstrapper.user_data(_request())
    finished = spans.get_finished_spans()
    by_id = {_id(each): each.name for each in finished}
    parents = {(each.name, by_id.get(each.parent.span_id, "") if each.parent else "") for each in finished}
    assert {
        ("check spec", "whole"),
        ("assemble bundle", "whole"),
        ("compile", "whole"),
        ("build plan", "compile"),
        ("lower", "compile"),
        ("render", "whole"),
        ("fit user data", "whole"),
        ("whole", ""),
    } == parents
    assert len({each.context.trace_id for each in finished if each.context}) == 1
    (rendered,) = (dict(each.attributes or {}) for each in finished if each.name == "render")
    assert rendered.keys() == {f"slipway.{key}" for key in ("machine", "bundle_id", "format", "provisioner")}
    passes = [dict(each.attributes or {})["slipway.pass"] for each in finished if each.name == "lower"]
    assert passes[-1] == "runner"
    assert len(passes) > 1
    assert {key for each in finished for key in each.attributes or {}} <= {f"slipway.{key}" for key in ATTRIBUTES}
    assert CANARY not in "".join(each.to_json() for each in finished)


async def test_a_further_machine_of_a_class_shows_what_it_was_spared(spans: InMemorySpanExporter) -> None:
    """No plan is made and nothing is lowered again but the execution, which holds the id of its bundle."""
    bootstrapper = embedded_bootstrapper(store=PlaceholderStore())
    request = _request()
    await bootstrapper.user_data(request)
    spans.clear()
    request.subject.machine.name = "another"
    await bootstrapper.user_data(request)
    names = [each.name for each in spans.get_finished_spans()]
    assert names == ["check spec", "assemble bundle", "lower", "compile", "render", "fit user data"]


async def test_a_failure_is_recorded_without_its_text(spans: InMemorySpanExporter) -> None:
    """A refusal names what the user wrote; a span says only that the stage failed."""
    bootstrapper = embedded_bootstrapper(store=PlaceholderStore())
    request = _request()
    request.subject.spec.os.time_zone.name = CANARY + " "
    with pytest.raises(SlipwayError):
        await bootstrapper.user_data(request)
    (failed,) = spans.get_finished_spans()
    assert (failed.name, failed.status.status_code.name, list(failed.events)) == ("check spec", "ERROR", [])
    assert CANARY not in failed.to_json()


def test_lines_of_the_log_name_their_trace(spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its id; outside of a trace there is none."""
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    configure_logging(log_format="json")
    with span("whole"):
        structlog.get_logger("slipway").info("inside")
    structlog.get_logger("slipway").info("outside")
    inside, outside = (json.loads(line) for line in written.getvalue().splitlines())
    (finished,) = spans.get_finished_spans()
    assert finished.context is not None
    assert inside["trace_id"] == format(finished.context.trace_id, "032x")
    assert "trace_id" not in outside


def _id(each: ReadableSpan) -> int:
    return each.context.span_id if each.context else 0
