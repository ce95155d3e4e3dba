"""SEC: canaries in every secret of a bundle, hunted through everything else that comes out."""

from collections.abc import Iterable

from google.protobuf.message import Message

from slipway.conformance import canaries
from slipway.conformance.answer import Answer
from slipway.conformance.check import Checks, Need
from slipway.conformance.encodings import forms
from slipway.conformance.outcome import NotRun, all_hold
from slipway.conformance.session import Session
from slipway.conformance.trial import feature_trials
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()


@CHECKS.check_format("SEC-001")
async def secrets_in_errors(session: Session, info: provisionerpb.FormatInfo) -> None:
    """No secret is in an error."""
    all_hold(await _leaks(session, info, secret=True))


@CHECKS.check_format("SEC-002")
async def values_in_errors(session: Session, info: provisionerpb.FormatInfo) -> None:
    """No other value of the request is in an error."""
    all_hold(await _leaks(session, info, secret=False))


@CHECKS.check_format("SEC-002")
async def each_field_in_errors(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Whatever field is wrong, its value is not in the error that says so."""
    request, _ = await canaries.bundle(session, info)
    problems = set()
    for path, sent, word in canaries.each_field_broken(request):
        got = await session.subject.render(sent)
        for form in [] if got.ok else forms(_said(got), word):
            problems.add(f"the value of {path} stands in an error, {got.described()} ({form})")
    all_hold(sorted(problems))


@CHECKS.check_format("SEC-003")
async def secrets_in_answers(session: Session, info: provisionerpb.FormatInfo) -> None:
    """No secret is in an answer beside user data."""
    request, words = await canaries.bundle(session, info)
    got = await session.subject.render(request)
    if not got.ok:
        raise NotRun(f"the bundle with canaries ended with {got.described()}")
    rest = provisionerpb.RenderResponse()
    rest.CopyFrom(got.response)
    rest.ClearField("user_data")
    for attachment in rest.attachments:
        attachment.ClearField("content")
    found = _found(rest.SerializeToString(), words.secret)
    all_hold([f"a secret stands in the answer beside `user_data` ({form})" for form in found])


@CHECKS.check_format("SEC-003")
async def values_in_diagnostics(session: Session, info: provisionerpb.FormatInfo) -> None:
    """No value of the request is in the message of a diagnostic."""
    request, words = await canaries.bundle(session, info)
    got = await session.subject.render(request)
    if not got.ok:
        raise NotRun(f"the bundle with canaries ended with {got.described()}")
    said = "\n".join(diagnostic.message for diagnostic in got.response.diagnostics).encode()
    found = _found(said, (*words.secret, *words.other))
    problems = {f"a value of the request stands in the message of a diagnostic ({form})" for form in found}
    for trial in await feature_trials(session, info):
        remarks = trial.answer.response.diagnostics if trial.answer.ok else ()
        messages = "\n".join(remark.message for remark in remarks)
        if any(value in messages for value in canaries.values(trial.request.bundle)):
            problems.add(f"{trial.case.name}: a value of the request stands in the message of a diagnostic")
    all_hold(sorted(problems))


@CHECKS.check("SEC-004", Need.PROCESS, slow=True)
async def secrets_in_output(session: Session) -> None:
    """No secret is in what the process writes, to its last words."""
    hunted: list[bytes] = []
    async with session.process() as (running, subject):
        for info in session.info.formats:
            request, words = await canaries.bundle(session, info)
            hunted += words.secret
            for sent in (request, *canaries.broken(request)):
                await subject.render(sent)
        running.terminate()
        await session.ended(running, session.options.patience.end)
        # Only when it is gone all of its output is here.
        await running.kill()
        written = running.output()
    found = _found(written, hunted)
    all_hold([f"a secret stands in what the process wrote ({form})" for form in found])


async def _leaks(session: Session, info: provisionerpb.FormatInfo, *, secret: bool) -> list[str]:
    request, words = await canaries.bundle(session, info)
    wanted = words.secret if secret else words.other
    problems = set()
    for sent in (request, *canaries.broken(request)):
        got = await session.subject.render(sent)
        for form in [] if got.ok else _found(_said(got), wanted):
            what = "a secret" if secret else "a value of the request"
            problems.add(f"{what} stands in an error, {got.described()} ({form})")
    return sorted(problems)


def _said(got: Answer) -> bytes:
    status: Message | None = got.status
    return got.message.encode() + (status.SerializeToString() if status is not None else b"")


def _found(text: bytes, words: Iterable[bytes]) -> list[str]:
    """Give the forms in which a word stands in a text."""
    return sorted({form for word in words for form in forms(text, word)})
