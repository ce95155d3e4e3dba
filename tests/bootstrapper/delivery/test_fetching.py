"""What may be fetched: refused by the field, explained before there is a machine, and never chosen by itself."""

import base64
import hashlib
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.delivery.fetching import Fetching, payload_name
from slipway.bootstrapper.delivery.settings import DeliverySettings
from slipway.bootstrapper.explanation import explain
from slipway.contract.errors import (
    AttachmentsNotAccepted,
    FeatureDenied,
    SlipwayError,
    UnsupportedTarget,
    UserDataTooLarge,
)
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tests.bootstrapper.asking import asked, bootstrapper, check, question
from tests.bootstrapper.delivery.sources import TICKET
from tests.bootstrapper.lowering.specs import PEM

BASE = "https://gateway.example.com:8443"
FETCHING = Fetching(frozenset({"metal", "hetzner"}), BASE)
LINUX = "target: {osFamily: Linux, distribution: debian, osVersion: '12', infrastructure: %s}"
WINDOWS = "target: {osFamily: Windows, distribution: windows, osVersion: '2022', infrastructure: metal}"
SEGMENT = "{extension: {id: cloud-init.slipway.dev/jinja, text: '{{ a }}'}}"
TEMPLATE = "os: {files: [{path: /etc/x, content: {segments: [" + SEGMENT + "]}}]}"


def spec(*parts: str, infrastructure: str = "metal", mode: str = "Fetch") -> str:
    """Give a spec with a delivery."""
    return "{" + ", ".join([LINUX % infrastructure, f"delivery: {{mode: {mode}}}", *parts]) + "}"


def allowing(fetching: Fetching | None, *, ticket: bool = True) -> Bootstrapper:
    """Give a bootstrapper whose operator allows something."""
    if fetching is not None and ticket:
        fetching = replace(fetching, ticket=lambda _: TICKET)
    return replace(bootstrapper(), fetching=fetching)


async def refusal(of: Bootstrapper, text: str, provisioner: str, format_id: str = "") -> SlipwayError:
    """Give why a machine is refused."""
    with pytest.raises(SlipwayError) as caught:
        await of.delivered(asked(question(text), provisioner, format_id))
    check(caught.value)
    return caught.value


@pytest.mark.parametrize("mode", ["Inline", "Fetch"])
async def test_the_payload_is_what_inline_user_data_would_be(mode: str) -> None:
    """The mode changes how the user data arrives, and nothing of it."""
    answer, payload = await allowing(FETCHING).delivered(asked(question(spec(mode=mode)), "ignition"))
    inline, _ = await allowing(None).delivered(asked(question(spec(mode="Inline")), "ignition"))
    if mode == "Inline":
        assert (answer.user_data, payload) == (inline.user_data, None)
        return
    assert payload is not None
    assert payload.data == inline.user_data
    assert (payload.name, payload.url) == (payload_name(TICKET), f"{BASE}/payload/{payload_name(TICKET)}")
    assert len(answer.user_data) <= 2048
    assert answer.size.raw_bytes == len(answer.user_data)


REFUSED: list[tuple[str, str, str, type[SlipwayError], str]] = [
    (spec(infrastructure="aws"), "cloud-init", "", FeatureDenied, "the operator allows others"),
    (spec(), "ignition", "ignition/2.3.0", UnsupportedTarget, "Ignition of spec 2 sends no header"),
    (
        "{delivery: {mode: Fetch}, target: {infrastructure: metal}}",
        "talos",
        "",
        UnsupportedTarget,
        "Talos fetches none",
    ),
    ("{delivery: {mode: Fetch}, " + WINDOWS + "}", "windows", "", UnsupportedTarget, "Windows has no stub"),
    (spec(TEMPLATE), "cloud-init", "", UnsupportedTarget, "cloud-init renders templates of user data only"),
]


@pytest.mark.parametrize(
    ("text", "provisioner", "format_id", "error", "reason"), REFUSED, ids=[row[4] for row in REFUSED]
)
async def test_what_cannot_be_fetched_is_refused_by_its_field(
    text: str, provisioner: str, format_id: str, error: type[SlipwayError], reason: str
) -> None:
    """Nothing is delivered inline that was to be fetched, and the refusal names the field."""
    caught = await refusal(allowing(FETCHING), text, provisioner, format_id)
    assert isinstance(caught, error), reason
    assert [violation.path.rpartition(".")[2] for violation in caught.violations] == ["mode"], reason
    assert "delivery" in caught.violations[0].path


async def test_a_request_that_no_operator_allows_is_refused() -> None:
    """There is no place from which the machine could fetch."""
    assert isinstance(await refusal(allowing(None), spec(), "cloud-init"), FeatureDenied)


async def test_a_request_without_attachments_is_never_answered_with_a_stub() -> None:
    """A machine whose payload is not stored would wait for ever: refused by the field, with a remedy."""
    request = asked(question(spec()), "cloud-init")
    request.accept_attachments = False
    with pytest.raises(AttachmentsNotAccepted) as caught:
        await allowing(FETCHING, ticket=False).user_data(request)
    check(caught.value)
    (violation,) = caught.value.violations
    assert violation.path.endswith("delivery.mode")
    assert "accept_attachments" in violation.remedy


@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
async def test_a_request_gets_the_stub_and_what_it_fetches(provisioner: str) -> None:
    """Who asks by an RPC gets the payload as an attachment: what inline user data would be, and where to store it."""
    of = allowing(FETCHING, ticket=False)
    answer = await of.user_data(asked(question(spec()), provisioner))
    inline = await of.user_data(asked(question(spec(mode="Inline")), provisioner))
    (attachment,) = answer.attachments
    assert attachment.content == inline.user_data
    assert attachment.sha256 == hashlib.sha256(inline.user_data).digest()
    assert attachment.url == f"{BASE}/payload/{attachment.name}"
    assert (attachment.media_type, attachment.operator_only) == (inline.media_type, False)
    stub = answer.user_data.decode()
    (ticket,) = re.findall(r"Bearer ([A-Za-z0-9_-]{43})\b", stub)
    assert payload_name(ticket) == attachment.name
    assert attachment.sha256.hex() in stub
    assert answer.user_data == (await of.user_data(asked(question(spec()), provisioner))).user_data
    assert not list(inline.attachments)


async def test_a_ticket_is_for_one_payload() -> None:
    """Another content has another ticket, and another name: one machine's ticket opens nothing of another's."""
    other = spec("os: {files: [{path: /etc/x, content: {text: other}}]}")
    of = allowing(FETCHING, ticket=False)
    answers = [await of.user_data(asked(question(text), "ignition")) for text in (spec(), other)]
    assert len({answer.attachments[0].name for answer in answers}) == 2


@pytest.mark.parametrize(
    ("proxy", "used"),
    [
        ("httpsProxy: 'http://proxy.example.com:3128'", True),
        ("httpsProxy: 'http://proxy.example.com:3128', noProxy: [gateway.example.com]", False),
        ("httpsProxy: 'http://me:word@proxy.example.com:3128', noProxy: [.example.com]", False),
    ],
)
async def test_the_proxy_of_the_spec_is_in_the_stub(proxy: str, used: bool) -> None:
    """Where the gateway is reached by it; its files come with the payload only."""
    answer, _ = await allowing(FETCHING).delivered(asked(question(spec(f"os: {{proxy: {{{proxy}}}}}")), "ignition"))
    assert (b"proxy.example.com" in answer.user_data) is used


async def test_no_password_of_a_proxy_is_in_a_stub() -> None:
    """It is refused, with what else can be done."""
    proxy = "os: {proxy: {httpsProxy: 'http://me:word@proxy.example.com:3128'}}"
    caught = await refusal(allowing(FETCHING), spec(proxy), "cloud-init")
    assert isinstance(caught, UnsupportedTarget)
    assert "noProxy" in caught.violations[0].remedy
    assert "word@" not in str(caught)


async def test_a_stub_that_is_too_large_is_refused() -> None:
    """An authority with a long key, and the remedy."""
    fetching = replace(FETCHING, authorities=PEM * 4)
    caught = await refusal(allowing(fetching), spec(), "cloud-init")
    assert isinstance(caught, UserDataTooLarge)
    assert "ECDSA" in caught.violations[0].remedy


def _large(mode: str) -> str:
    noise = base64.b64encode(random.Random(1).randbytes(60_000)).decode()
    return spec(
        f"os: {{files: [{{path: /etc/noise, content: {{text: {noise}}}}}]}}", infrastructure="hetzner", mode=mode
    )


@pytest.mark.parametrize(("fetching", "mentioned"), [(FETCHING, True), (None, False)])
async def test_too_large_user_data_could_be_fetched(fetching: Fetching | None, mentioned: bool) -> None:
    """The refusal says so where the operator allows it; it is never done because a file grew."""
    caught = await refusal(allowing(fetching), _large("Inline"), "cloud-init")
    assert isinstance(caught, UserDataTooLarge)
    assert ("delivery.mode to Fetch" in caught.violations[0].remedy) is mentioned
    if mentioned:
        answer, payload = await allowing(fetching).delivered(asked(question(_large("Fetch")), "cloud-init"))
        assert payload is not None
        assert len(payload.data) > 60_000
        assert len(answer.user_data) <= 2048


async def test_explain_says_what_is_fetched() -> None:
    """A dry run needs no ticket: columns that have a stub are renderable, and a remark says how the machine gets it."""
    request = bootstrappb.ExplainRequest(subject=question(_large("Fetch")).subject)
    answer = await explain(allowing(FETCHING, ticket=False), request)
    renderable = {column.format: column.renderable for column in answer.columns}
    assert renderable["cloud-config"]
    assert renderable["ignition/3.3.0"]
    assert not renderable["ignition/2.3.0"]
    assert [remark.code for remark in answer.diagnostics if remark.code == "DELIVERY_FETCH"] == ["DELIVERY_FETCH"]
    sizes = [remark.message for remark in answer.diagnostics if remark.code == "DELIVERY"]
    assert {size.partition(": ")[0] for size in sizes} == {name for name, rendered in renderable.items() if rendered}
    assert all(": fetched: a stub of " in size for size in sizes)
    refused = await explain(allowing(None), request)
    assert not any(column.renderable for column in refused.columns)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"fetch_infrastructures": "metal"}, "needs --payload-url-base"),
        ({"fetch_infrastructures": "mars", "payload_url_base": BASE}, "mars: not in the table"),
        ({"fetch_infrastructures": "docker", "payload_url_base": BASE}, "docker: changes user data"),
        ({"payload_url_base": "http://gateway.example.com"}, "must be https://HOST"),
        ({"payload_url_base": f"{BASE}/?a=b"}, "must be https://HOST"),
        (
            {"fetch_infrastructures": "metal", "payload_url_base": BASE, "payload_ca": "/dev/null"},
            "--payload-ca must be",
        ),
        ({"fetch_infrastructures": "metal", "payload_url_base": BASE, "payload_ca": "absent"}, "cannot be read"),
    ],
)
def test_settings_that_cannot_work_end_at_the_start(values: dict[str, Any], message: str) -> None:
    """A machine shall not find out."""
    with pytest.raises(ValueError, match=message):
        DeliverySettings(**values)


def test_settings_are_what_is_allowed(tmp_path: Path) -> None:
    """The authority is read, and the address has no slash at its end; without infrastructures nothing is allowed."""
    (tmp_path / "ca.pem").write_text(PEM)
    values: dict[str, Any] = {"payload_url_base": f"{BASE}/", "payload_ca": tmp_path / "ca.pem"}
    assert DeliverySettings(fetch_infrastructures="metal, aws", **values).fetching() == Fetching(
        frozenset({"metal", "aws"}), BASE, PEM
    )
    assert DeliverySettings(**values).fetching() is None
