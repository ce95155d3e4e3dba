"""No value of a request gets out by any way but the user data: not by errors, logs, metrics, explain or shown bundles.

Each value of a rich request is replaced in turn by a canary, once by one that most grammars take and that so travels
far, once by one that most refuse. Then the canary is looked for in everything that a person or a machine gets to see.
"""

import base64
import urllib.request
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.contract.errors import NoManagementCluster, SlipwayError
from slipway.contract.redaction import redacted
from slipway.rpc.client import invoke
from slipway.rpc.logs import configure_logging
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tests.integration.canaries import Place, distinct, found, name_of, put
from tests.integration.full_request import full_request
from tests.integration.watched import embedded, fitting, may_be_told, served, shown, unfitting

pytestmark = pytest.mark.long


async def test_no_value_is_told_by_an_error_a_log_or_a_metric(capsys: pytest.CaptureFixture[str]) -> None:
    """Each value in turn, over a real connection: statuses, answers without user data, logs and metrics are clean."""
    configure_logging(log_format="json", level="debug")
    metrics = CollectorRegistry()
    request = full_request()
    canaries, outcomes = [], set()
    async with served(embedded(), metrics) as stub:
        for number, place in enumerate(distinct(request)):
            for make in (fitting, unfitting):
                canary = make(number)
                asked = bootstrappb.GetUserDataRequest()
                asked.CopyFrom(request)
                put(asked, place, canary)
                try:
                    answer = redacted(await invoke(stub.GetUserData, asked, timeout=20))
                    told, outcome = answer.SerializeToString() + str(answer).encode(), "OK"
                except SlipwayError as error:
                    told, outcome = shown(error), error.reason
                outcomes.add(outcome)
                if not (make is fitting and may_be_told(place)):
                    assert not found(canary, told), f"{name_of(place)}: {outcome}"
                canaries.append(canary)
    assert {"OK", "SPEC_INVALID", "SECRET_MISSING"} <= outcomes
    logs, measured = capsys.readouterr().err, generate_latest(metrics)
    assert logs.count("\n") >= len(canaries)
    assert b'reason="SPEC_INVALID"' in measured
    assert [canary for canary in canaries if found(canary, logs) or found(canary, measured)] == []


async def test_explain_and_shown_bundles_hold_no_marked_value() -> None:
    """All canaries that a spec can hold at once: explain tells none, the bundle none of a field that is marked."""
    bootstrapper, request = embedded(), full_request()
    put_in: dict[str, Place] = {}
    for number, place in enumerate(distinct(request.subject)):
        canary = fitting(number)
        tried = bootstrappb.GetUserDataRequest()
        tried.CopyFrom(request)
        put(tried.subject, place, canary)
        if await _is_sound(bootstrapper, tried):
            put(request.subject, place, canary)
            put_in[canary] = place
    assert len(put_in) > 30
    async with served(bootstrapper, CollectorRegistry()) as stub:
        matrix = await invoke(stub.Explain, bootstrappb.ExplainRequest(subject=request.subject), timeout=30)
        shown = [name_of(place) for canary, place in put_in.items() if found(canary, str(matrix))]
        # The limit of a delivery is that of an infrastructure, which is named; it never holds a secret.
        assert set(shown) <= {"spec.target.infrastructure"}
        marked = {canary: place for canary, place in put_in.items() if _is_marked(request.subject, place)}
        assert len(marked) > 10
        for lowered in (False, True):
            asked = bootstrappb.GetBundleRequest(subject=request.subject, lowered=lowered)
            bundle = await invoke(stub.GetBundle, asked, timeout=30)
            told = str(bundle) + str(bundle.SerializeToString())
            assert [name_of(place) for canary, place in marked.items() if found(canary, told)] == []
            assert f"<{len(next(iter(marked)))} bytes>" in told


async def _is_sound(bootstrapper: Bootstrapper, request: bootstrappb.GetUserDataRequest) -> bool:
    try:
        await bootstrapper.prepare(request.subject, request.credentials)
    except SlipwayError:
        return False
    return True


def _is_marked(message: Any, place: Place) -> bool:
    """Tell whether the field, or one around it, is marked as secret."""
    for name, index in place:
        if message.DESCRIPTOR.fields_by_name[name].GetOptions().debug_redact:
            return True
        message = getattr(message, name)
        message = message if index is None else message[index]
    return False


@pytest.mark.parametrize(
    "encode",
    [
        str.encode,
        lambda text: base64.b64encode(b"ab" + text.encode() + b"c"),
        lambda text: base64.urlsafe_b64encode(b"abcd" + text.encode()),
        lambda text: text.encode().hex().upper().encode(),
        lambda text: urllib.request.quote(text).encode(),
        lambda text: repr([text]).encode(),
    ],
)
def test_a_canary_is_found_in_every_encoding(encode: Any) -> None:
    """All tests above can fail."""
    for canary in (fitting(1), unfitting(2)):
        assert found(canary, b"x" + encode(canary) + b"y")
        assert not found(canary, b"x" + encode(canary[::-1]) + b"y")


async def test_a_server_outside_a_management_cluster_knows_no_machines() -> None:
    """It says so, rather than that the subject is missing."""
    asked = bootstrappb.GetUserDataRequest()
    asked.machine_reference.namespace, asked.machine_reference.name = "ns", "m"
    async with served(embedded(), CollectorRegistry()) as stub:
        with pytest.raises(NoManagementCluster):
            await invoke(stub.GetUserData, asked, timeout=20)
