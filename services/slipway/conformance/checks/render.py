"""RND: Render is a pure function, and its answer is what it says."""

import asyncio
import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace

from slipway.conformance import requests
from slipway.conformance.check import Checks, Need
from slipway.conformance.field_paths import names_field
from slipway.conformance.outcome import all_hold, expect
from slipway.conformance.session import Session
from slipway.conformance.trial import Trial, feature_trials, large, rich
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()
TAGS = ("", "t" * 4096, "ü\u2028\x00\n\"'{{ tag }}${TAG}", " \t ")
TIMES, AT_ONCE, KINDS, AGAIN = 10, 50, 5, 4
_FIELDS = [field.name for field in provisionerpb.RenderResponse.DESCRIPTOR.fields]
_GZIP = b"\x1f\x8b"
_A_SECOND = 1.1
_CODE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
_EARLY, _LATE, _PAST, _NANOS = 4_000_000_000, 4_100_000_000, 1_000_000_000, 1_000_001


@CHECKS.check_format("RND-001")
async def odd_tags(session: Session, info: provisionerpb.FormatInfo) -> None:
    """The tag comes back, whatever is in it."""
    request = await session.base(info)
    for tag in TAGS:
        request.request_tag = tag
        response = await session.subject.rendered(request)
        expect(response.request_tag == tag, "`request_tag` did not come back byte for byte")


@CHECKS.check_format("RND-002")
async def tag_has_no_meaning(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Nothing depends on the tag."""
    request = await session.base(info)
    found = []
    for tag in ("one", "another"):
        request.request_tag = tag
        response = await session.subject.rendered(request)
        response.request_tag = ""
        found.append(response)
    expect(found[0] == found[1], "the answer depends on the tag")


@CHECKS.check_format("RND-003")
async def repeated(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Ten times the same."""
    request = await rich(session, info)
    first = await session.subject.rendered(request)
    for _ in range(TIMES - 1):
        again = await session.subject.rendered(request)
        expect(again == first, "the same request gave two different answers")


@CHECKS.check_format("RND-003")
async def each_case_again(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Whatever a format takes gives the same bytes again and again: the order of a map is seldom twice the same."""
    gate = asyncio.Semaphore(AGAIN)

    async def again(trial: Trial) -> str:
        for _ in range(AGAIN):
            async with gate:
                got = await session.subject.render(trial.request)
            if got.response != trial.answer.response:
                return f"{trial.case.name}: the same request gave two different answers"
        return ""

    texts = await asyncio.gather(*(again(trial) for trial in await feature_trials(session, info) if trial.answer.ok))
    all_hold([text for text in texts if text])


@CHECKS.check_format("RND-003")
async def at_once(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Fifty at once, each with its own answer."""
    base = await session.base(info)

    async def one(number: int) -> tuple[int, bytes]:
        request = provisionerpb.RenderRequest()
        request.CopyFrom(base)
        request.request_tag = f"tag {number}"
        request.bundle.id = f"conformance-{number % KINDS}"
        _differ(request, number % KINDS)
        response = await session.subject.rendered(request)
        expect(response.request_tag == request.request_tag, "of many calls at once one got the answer to another")
        return number % KINDS, response.user_data

    alone = dict([await one(number) for number in range(KINDS)])
    for number, user_data in await asyncio.gather(*map(one, range(AT_ONCE))):
        expect(user_data == alone[number], "of many calls at once one gave another answer than it gives alone")


@CHECKS.check("RND-004", Need.PROCESS, slow=True)
async def another_instance(session: Session) -> None:
    """The same from another process, elsewhere in the world."""
    elsewhere = {"TZ": "Pacific/Kiritimati", "LANG": "C", "LC_ALL": "C", "USER": "conformance", "HOSTNAME": "elsewhere"}
    setup = replace(session.setup(), environment=elsewhere, hostname="elsewhere")
    async with session.process(setup) as (_, subject):
        for info in session.info.formats:
            request, packed = await rich(session, info), await large(session, info)
            here = [await session.subject.rendered(each) for each in (request, packed)]
            # A provisioner that writes the time writes another one now, also in whole seconds.
            await asyncio.sleep(_A_SECOND)
            there = [await subject.rendered(each) for each in (request, packed)]
            expect(here == there, f"{info.format}: two processes gave different answers to the same request")
            trials = [trial for trial in await feature_trials(session, info) if trial.answer.ok]
            other = [
                trial.case.name
                for trial in trials
                if (await subject.render(trial.request)).response != trial.answer.response
            ]
            expect(
                not other, f"{info.format}: two processes gave different answers to {len(other)} of {len(trials)} cases"
            )


@CHECKS.check_format("RND-006")
async def sha256(session: Session, info: provisionerpb.FormatInfo) -> None:
    """The hash is that of the user data."""
    for request in (await session.base(info), await large(session, info)):
        response = await session.subject.rendered(request)
        right = response.sha256 == hashlib.sha256(response.user_data).digest()
        expect(right, f"`sha256` is not the SHA-256 of `user_data`, of {len(response.user_data)} bytes")


@CHECKS.check_format("RND-007")
async def labels(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Format, media type and version are those that were said."""
    response = await session.subject.rendered(await session.base(info))
    problems = []
    if response.format != info.format:
        problems.append("`format` is not that of the request")
    if response.media_type != info.media_type:
        problems.append("`media_type` is not that of the format")
    if response.implementation_version != session.info.implementation_version:
        problems.append("`implementation_version` is not that of GetProvisionerInfo")
    all_hold(problems)


@CHECKS.check_format("RND-008")
async def not_compressed(session: Session, info: provisionerpb.FormatInfo) -> None:
    """User data is there, and as it is."""
    response = await session.subject.rendered(await session.base(info))
    expect(response.user_data, "`user_data` is empty")
    expect(not response.user_data.startswith(_GZIP), "`user_data` is compressed")


@CHECKS.check_format("RND-009")
async def validate_only(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A mere check gives the same verdict and no user data."""
    differing = set()
    for request in (await rich(session, info), await _expiring(session, info, ((_LATE, _NANOS), (_EARLY, _NANOS)))):
        full = await session.subject.rendered(request)
        request.validate_only = True
        response = await session.subject.rendered(request)
        kept = response.user_data or response.attachments
        expect(not kept, "with `validate_only` there is user data or an attachment")
        for one in (response, full):
            for name in ("user_data", "sha256", "attachments"):
                one.ClearField(name)
        differing |= {name for name in _FIELDS if getattr(response, name) != getattr(full, name)}
    all_hold([f"with `validate_only` `{name}` is another" for name in sorted(differing)])


@CHECKS.check_format("RND-009")
async def validate_only_refusals(session: Session, info: provisionerpb.FormatInfo) -> None:
    """What is refused is refused by a mere check too."""
    refused = [trial for trial in await feature_trials(session, info) if not trial.answer.ok]
    problems = []
    for trial in refused[:: max(1, len(refused) // TIMES)]:
        request = provisionerpb.RenderRequest()
        request.CopyFrom(trial.request)
        request.validate_only = True
        got = await session.subject.render(request)
        if (got.code, got.info.reason) != (trial.answer.code, trial.answer.info.reason):
            problems.append(
                f"{trial.case.name}: Render ends with {trial.answer.described()}, a mere check with {got.described()}"
            )
    all_hold(problems)


@CHECKS.check_format("RND-010")
async def attachments(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Attachments are named, hashed and declared."""
    response = await session.subject.rendered(await rich(session, info))
    names = [attachment.name for attachment in response.attachments]
    problems = ["an attachment has no name, or one with a folder"] * any(_foldered(name) for name in names)
    problems += ["two attachments have the same name"] * (len(set(names)) != len(names))
    wrong = any(attachment.sha256 != hashlib.sha256(attachment.content).digest() for attachment in response.attachments)
    problems += ["`sha256` of an attachment is not that of its content"] * wrong
    problems += ["`url` of an attachment is set"] * any(attachment.url for attachment in response.attachments)
    problems += ["there are attachments, and the format does not declare them"] * bool(
        names and not info.emits_attachments
    )
    all_hold(problems)


@CHECKS.check_format("RND-012")
async def expire_time(session: Session, info: provisionerpb.FormatInfo) -> None:
    """The earliest expiry is told."""
    of_one_second = ((_EARLY, _NANOS), (_EARLY, _NANOS + 1))
    of_two = ((_EARLY, _NANOS), (_LATE, 0))
    for times in (of_two, of_two[::-1], of_one_second, of_one_second[::-1]):
        response = await session.subject.rendered(await _expiring(session, info, times))
        right = (response.expire_time.seconds, response.expire_time.nanos) == (_EARLY, _NANOS)
        expect(right, "`expire_time` is not the earliest of the secrets', to the nanosecond")


@CHECKS.check_format("RND-012")
async def no_expire_time(session: Session, info: provisionerpb.FormatInfo) -> None:
    """What does not expire has no time."""
    response = await session.subject.rendered(await session.base(info))
    expect(not response.HasField("expire_time"), "`expire_time` is set, and no secret expires")


@CHECKS.check_format("RND-013")
async def expired(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Render has no clock: what expired long ago is rendered."""
    response = await session.subject.rendered(await _expiring(session, info, ((_PAST, _NANOS), (_LATE, _NANOS))))
    expect(response.expire_time.seconds == _PAST, "`expire_time` is not the earliest of the secrets'")


@CHECKS.check_format("RND-014")
async def diagnostics(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Remarks have a severity and a code."""
    known = (diagnosticpb.SEVERITY_INFO, diagnosticpb.SEVERITY_WARNING)
    problems = set()
    for trial in await feature_trials(session, info):
        for diagnostic in trial.answer.response.diagnostics if trial.answer.ok else ():
            if diagnostic.severity not in known or not _CODE.fullmatch(diagnostic.code):
                problems.add(f"{trial.case.name}: a diagnostic has no severity, or no code in UPPER_SNAKE_CASE")
            if diagnostic.field_path and not names_field(trial.request.bundle, diagnostic.field_path):
                problems.add(f"{trial.case.name}: `field_path` of a diagnostic leads to no field of the bundle")
    all_hold(sorted(problems))


def _differ(request: provisionerpb.RenderRequest, number: int) -> None:
    """Make the user data of a request its own."""
    if request.bundle.HasField("intent"):
        request.bundle.intent.kubernetes.node.labels[0].value = f"label-{number}"
    else:
        request.bundle.os.files[0].content.segments[0].data += f"# {number}\n".encode()


def _foldered(name: str) -> bool:
    return not name or "/" in name or "\\" in name or name in (".", "..")


async def _expiring(
    session: Session, info: provisionerpb.FormatInfo, times: Iterable[tuple[int, int]]
) -> provisionerpb.RenderRequest:
    """Give a request of which secrets expire at these times: seconds since 1970, and nanoseconds."""
    request = await session.base(info)
    if info.kubernetes_input != requests.INTENT:
        found = [requests.secret("conformance", f"key-{number}", b"value") for number in (1, 2)]
        of = requests.files(requests.file("secrets", b""), secrets=found)
        for one in found:
            segment = of.os.files[0].content.segments.add()
            segment.secret_ref.name, segment.secret_ref.key = one.name, one.key
        request = requests.merged(request, of, info)
    for secret, (seconds, nanos) in zip(request.bundle.secrets.secrets, times, strict=False):
        secret.expire_time.seconds, secret.expire_time.nanos = seconds, nanos
    return request
