"""ERR: a refusal tells a program what to do and a person where to look."""

import re

from slipway.conformance import cases, requests
from slipway.conformance.answer import Answer
from slipway.conformance.check import Checks
from slipway.conformance.outcome import all_hold, expect
from slipway.conformance.session import Session
from slipway.conformance.subject import SERVICE
from slipway.conformance.trial import feature_trials
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1.reasons import COMMON_METADATA, DOMAIN, RULES, Code, Reason

CHECKS = Checks()
BUDGET, MANY, LONG = 4096, 500, 40
_PATH = re.compile(r"[a-z][a-z0-9_]*(\[[0-9]+\])?(\.[a-z][a-z0-9_]*(\[[0-9]+\])?)*")
_OWN_FIELDS = {field.name for field in provisionerpb.RenderRequest.DESCRIPTOR.fields} | {"bundle"}
_BUNDLE_FIELDS = {field.name for field in bundlepb.BootstrapBundle.DESCRIPTOR.fields}


@CHECKS.check_format("ERR-001")
async def rich_status(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Every refusal carries a status that says the same as the call."""
    problems = []
    for name, got in await _refusals(session, info):
        if got.status is None:
            problems.append(f"{name}: {got.code} without a google.rpc.Status in the trailing metadata")
        elif got.status.code != _number(got.code) or got.status.message != got.message:
            problems.append(f"{name}: the google.rpc.Status has another code or message than the call")
    all_hold(problems)


@CHECKS.check_format("ERR-002")
async def reasons(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Every refusal has a reason of the table, with its code."""
    problems = []
    for name, got in await _refusals(session, info):
        said = got.info
        if said.domain != DOMAIN and "." in said.domain and said.reason not in set(Reason):
            continue
        if said.domain != DOMAIN or said.reason not in set(Reason):
            problems.append(f"{name}: {got.code} without an ErrorInfo of {DOMAIN} and a reason of the table")
        elif RULES[Reason(said.reason)].code.name != got.code:
            problems.append(f"{name}: {said.reason} came with {got.code}")
    all_hold(problems)


@CHECKS.check_format("ERR-003")
async def unknown_format(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A format that it does not serve is refused, and those that it serves are named."""
    served = ",".join(sorted(served_format.format for served_format in session.info.formats))
    for case in cases.of_clause("ERR-003"):
        request = cases.request(case, await session.base(info), info)
        got = await session.subject.render(request)
        cases.judged(case, got)
        expect(
            got.info.metadata["served"] == served,
            "the metadata key `served` is not the formats, sorted and joined by commas",
        )


@CHECKS.check_format("ERR-003")
async def similar_format(session: Session, info: provisionerpb.FormatInfo) -> None:
    """An id that is nearly that of a format is another one."""
    request = await session.base(info)
    problems = []
    for said in (info.format.upper(), f"{info.format} ", f"{info.format}/0", info.format[:-1]):
        request.format = said
        got = await session.subject.render(request)
        if (got.code, got.info.reason) != ("FAILED_PRECONDITION", "UNSUPPORTED_FORMAT"):
            problems.append(f"with a format that is not quite {info.format} it ended with {got.described()}")
    all_hold(sorted(set(problems)))


@CHECKS.check_format("ERR-004")
async def field_paths(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Fields are named as protobuf spells them."""
    problems = []
    for name, got in await _refusals(session, info):
        for path in got.fields:
            first = re.split(r"[.\[]", path)[0]
            if not _PATH.fullmatch(path) or first not in _OWN_FIELDS | _BUNDLE_FIELDS:
                problems.append(f"{name}: a violation has no path in the bundle")
    all_hold(problems)


@CHECKS.check_format("ERR-004")
async def right_item(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Of many items the one that is to blame is named, by its own number."""
    request = await session.base(info)
    paths = [f"os.unheard_of[{number}]" for number in (2, 11)]
    for path in paths:
        request.bundle.required_features.add(id="ext.conformance.example.com/unheard-of", paths=[path], count=1)
    got = await session.subject.render(request)
    named = sorted(got.fields)
    expect(named == sorted(paths), f"features at two paths are not declared, and it names {len(named)} other fields")
    if "os.files" in {support.id for support in info.features}:
        all_hold(await _missing_secret(session, info))


async def _missing_secret(session: Session, info: provisionerpb.FormatInfo) -> list[str]:
    """Have the fourth of some files refer to a secret that is not there."""
    base = await session.base(info)
    of = requests.files(*(requests.file(f"item-{number}", b"x") for number in range(6)))
    segment = of.os.files[3].content.segments.add()
    segment.secret_ref.name, segment.secret_ref.key = "conformance", "not-there"
    got = await session.subject.render(requests.merged(base, of, info))
    right = f"os.files[{len(base.bundle.os.files) + 3}]"
    if got.ok or not got.fields:
        return []  # RND-017 tells
    wrong = [path for path in got.fields if path != right and not path.startswith(f"{right}.")]
    return [f"{right} refers to a secret that is not there, and another item is named"] if wrong else []


@CHECKS.check_format("ERR-005")
async def small_status(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Five hundred bad fields still fit into 4 KiB."""
    request = await session.base(info)
    requests.ask_for_strange(request, MANY)
    got = await session.subject.render(request)
    expect(got.status is not None, f"with {MANY} undeclared features it ended with {got.code} and no google.rpc.Status")
    expect(got.raw <= BUDGET, f"a status has {got.raw} bytes; at most {BUDGET} are allowed")


@CHECKS.check_format("ERR-005")
async def counts_what_is_cut(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Of five hundred bad fields those that are not shown are counted; of long ones fewer are shown."""
    for field in ("unheard_of", "a_field_that_is_" + "very_" * LONG + "long", "a_field" + "\u00fc" * 5 * LONG):
        request = await session.base(info)
        requests.ask_for_strange(request, MANY, field=field)
        got = await session.subject.render(request)
        cut = got.info.metadata.get("truncated", "0")
        expect(
            cut.isdecimal() and len(got.fields) + int(cut) == MANY,
            f"of {MANY} violations it shows {len(got.fields)}, and the key `truncated` does not count the rest",
        )
        expect(got.raw <= BUDGET, f"a status has {got.raw} bytes; at most {BUDGET} are allowed")


@CHECKS.check_format("ERR-006")
async def malformed(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Whatever is malformed gets an answer, and never UNKNOWN."""
    problems = []
    for case in cases.cases("malformed"):
        if requests.applies(case, info):
            got = await session.subject.render(cases.request(case, await session.base(info), info))
            if got.code in ("UNKNOWN", "UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"):
                problems.append(f"{case.name}: it ended with {got.code}")
            elif not got.ok and got.status is None:
                problems.append(f"{case.name}: it ended with {got.code} and no google.rpc.Status")
    all_hold(problems)


@CHECKS.check("ERR-006")
async def garbage(session: Session) -> None:
    """Bytes that are no message bring nothing down."""
    await session.subject.call(f"/{SERVICE}/Render", b"\xff\xff\xff\xffgarbage")
    got = await session.subject.info()
    expect(got.ok, f"after a request of garbage GetProvisionerInfo ended with {got.described()}")


@CHECKS.check_format("ERR-008")
async def metadata(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Metadata has the keys of the table."""
    problems = []
    for name, got in await _refusals(session, info):
        if got.info.domain == DOMAIN and got.info.reason in set(Reason):
            allowed = RULES[Reason(got.info.reason)].metadata | COMMON_METADATA
            strange = sorted(set(got.info.metadata) - allowed)
            problems += [f"{name}: {got.info.reason} has the metadata key {key}" for key in strange]
    all_hold(sorted(set(problems)))


async def _refusals(session: Session, info: provisionerpb.FormatInfo) -> list[tuple[str, Answer]]:
    """Give refusals of all kinds, by the name of what was asked."""
    found = [(trial.case.name, trial.answer) for trial in await feature_trials(session, info) if not trial.answer.ok]
    for clause in ("FEA-005", "ERR-003", "RND-021"):
        for case in cases.of_clause(clause):
            request = cases.request(case, await session.base(info), info)
            found.append((case.name, await session.subject.render(request)))
    return [(name, got) for name, got in found if not got.ok]


def _number(code: str) -> int:
    return int(Code[code])
