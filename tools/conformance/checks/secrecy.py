"""SEC: canaries in every secret of a bundle, hunted through everything else that comes out."""

import asyncio
import base64
import urllib.parse
from dataclasses import dataclass

from google.protobuf.message import Message

from services.contract.features import compute_features
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tools.conformance import material, requests
from tools.conformance.check import Checks, Need
from tools.conformance.outcome import NotRun, all_hold
from tools.conformance.session import Session
from tools.conformance.subject import Answer

CHECKS = Checks()
_LOG_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Canaries:
    """Words that occur nowhere else: secret ones, and values that are not secret but no error's business either."""

    secret: tuple[bytes, ...]
    other: tuple[bytes, ...]


@CHECKS.check_format("SEC-001")
async def secrets_in_errors(session: Session, info: provisionerpb.FormatInfo) -> None:
    """No secret is in an error."""
    all_hold(await _leaks(session, info, secret=True))


@CHECKS.check_format("SEC-002")
async def values_in_errors(session: Session, info: provisionerpb.FormatInfo) -> None:
    """No other value of the request is in an error."""
    all_hold(await _leaks(session, info, secret=False))


@CHECKS.check_format("SEC-003")
async def secrets_in_answers(session: Session, info: provisionerpb.FormatInfo) -> None:
    """No secret is in an answer beside user data."""
    request, canaries = await _bundle(session, info)
    got = await session.subject.render(request)
    if not got.ok:
        raise NotRun(f"the bundle with canaries ended with {got.described()}")
    rest = provisionerpb.RenderResponse()
    rest.CopyFrom(got.response)
    rest.ClearField("user_data")
    for attachment in rest.attachments:
        attachment.ClearField("content")
    found = _found(rest.SerializeToString(), canaries.secret)
    all_hold([f"a secret stands in the answer beside `user_data` ({form})" for form in found])


@CHECKS.check("SEC-004", Need.PROCESS)
async def secrets_in_output(session: Session) -> None:
    """No secret is in what the process writes."""
    if session.main is None:
        raise NotRun("there is no --start-cmd")
    canaries: list[bytes] = []
    for info in session.info.formats:
        request, words = await _bundle(session, info)
        canaries += words.secret
        for sent in (request, *_broken(request)):
            await session.subject.render(sent)
    await asyncio.sleep(_LOG_SECONDS)
    found = _found(session.main.output(), canaries)
    all_hold([f"a secret stands in what the process wrote ({form})" for form in found])


async def _leaks(session: Session, info: provisionerpb.FormatInfo, *, secret: bool) -> list[str]:
    request, canaries = await _bundle(session, info)
    words = canaries.secret if secret else canaries.other
    problems = set()
    for sent in (request, *_broken(request)):
        got = await session.subject.render(sent)
        for form in [] if got.ok else _found(_said(got), words):
            what = "a secret" if secret else "a value of the request"
            problems.add(f"{what} stands in an error, {got.described()} ({form})")
    return sorted(problems)


async def _bundle(session: Session, info: provisionerpb.FormatInfo) -> tuple[provisionerpb.RenderRequest, Canaries]:
    """Give a request with canaries wherever the format takes anything."""
    declared = {support.id for support in info.features}
    request = await session.base(info)
    secret: list[str] = []
    other: list[str] = []

    def word(kind: list[str]) -> str:
        kind.append(material.canary())
        return kind[-1]

    if "os.files" in declared:
        found = requests.secret("conformance", "canary", word(secret).encode())
        of = requests.files(requests.file(word(other), word(secret).encode()), secrets=[found])
        segment = of.os.files[0].content.segments.add()
        segment.secret_ref.name, segment.secret_ref.key = found.name, found.key
        if "os.users" in declared:
            of.os.users.add(name=word(other))
        if "os.sysctls" in declared:
            of.os.sysctls.add(name=f"net.{word(other)}", value=word(other))
        if info.kubernetes_input == requests.PLAN:
            of.plan.entrypoint.argv.append(word(other))
        request = requests.merged(request, of, info)
    if info.kubernetes_input == requests.INTENT:
        request.bundle.intent.kubernetes.node.labels[0].value = word(other)
        request.bundle.intent.cluster.name = word(other)
        secret += [
            one.value.decode()
            for one in request.bundle.secrets.secrets
            if one.key in ("token", "value") and one.value.isascii()
        ]
    return request, Canaries(tuple(map(str.encode, secret)), tuple(map(str.encode, other)))


def _broken(request: provisionerpb.RenderRequest) -> list[provisionerpb.RenderRequest]:
    """Give requests that can not be rendered, each for another reason, with the canaries in them."""
    made = []

    def copy() -> provisionerpb.RenderRequest:
        one = provisionerpb.RenderRequest()
        one.CopyFrom(request)
        made.append(one)
        return one

    copy().bundle.required_features.add(id="os.unheard_of", paths=["os"], count=1)
    copy().bundle.features_computed = False
    copy().format = "conformance-no-such-format"
    copy().max_user_data_bytes = 1
    copy().target.Clear()
    copy().bundle.os.users.add(name=material.canary(), uid=1)
    for one in made[-1:]:
        compute_features(one.bundle)
    no_secrets = copy()
    del no_secrets.bundle.secrets.secrets[:]
    for file in copy().bundle.os.files:
        file.mode, file.owner = 0o7777, "1000"
    for file in copy().bundle.os.files:
        file.path = file.path.lstrip("/") + "/../" + file.path
    if request.bundle.HasField("intent"):
        for secret in copy().bundle.secrets.secrets:
            secret.value = secret.value[::-1] + secret.value
        copy().bundle.intent.kubernetes_version = "v0.0.0"
    return made


def _said(got: Answer) -> bytes:
    status: Message | None = got.status
    return got.message.encode() + (status.SerializeToString() if status is not None else b"")


def _found(text: bytes, words: tuple[bytes, ...] | list[bytes]) -> list[str]:
    """Give the forms in which a word stands in a text."""
    forms = set()
    for word in words:
        if word in text:
            forms.add("as it is")
        if word.hex().encode() in text.lower():
            forms.add("hexadecimal")
        if urllib.parse.quote(word, safe="").encode() in text and word not in text:
            forms.add("percent-encoded")
        # Wherever a word begins in base64, two of three alignments lose a character at its edges.
        for shift in range(3):
            encoded = base64.b64encode(b"\0" * shift + word)[4 if shift else 0 : -4]
            if encoded in text:
                forms.add("base64")
    return sorted(forms)
