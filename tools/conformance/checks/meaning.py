"""RND and EXE: what the user data says, read by a parser that the provisioner knows nothing of."""

import hashlib
from collections.abc import Iterable

from services.contract.walk import uses
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tools.conformance import profiles, requests
from tools.conformance.check import Checks
from tools.conformance.compare import compare
from tools.conformance.comparison import Comparison
from tools.conformance.decoders import decoded
from tools.conformance.ledger import FAILED, UNVERIFIED, VERIFIED
from tools.conformance.outcome import Unverified, all_hold, expect
from tools.conformance.session import Session
from tools.conformance.surplus import surplus
from tools.conformance.trial import Trial, feature_trials

CHECKS = Checks()
BYTES = (
    (b"", "nothing"),
    (b"no line break at the end", "no line break at the end"),
    (b"line\n\n\n", "line breaks at the end"),
    (b"  indented\n\ttab\n", "indentation"),
    (b" \n", "a blank"),
    (b"one\r\ntwo\r\n", "CR LF"),
    ("ü ∂ 😀 \u2028 \x85 \ufeff\n".encode(), "characters beyond ASCII"),
    (b"#cloud-config\n---\n...\n- {a: [b]}\n", "YAML"),
    (b'{"a": "b\\n"}', "JSON"),
    (b"## template: jinja\n{{ a }}{% if b %}{# c #}", "Jinja"),
    (b"${A} $B $(c) `d` %e %% $$ !f ~ \\n \\\\", "what shells and systemd replace"),
    (b"'single' \"double\" '' \"\"", "quotes"),
    (b"<a>&amp;</a> ]]>", "XML"),
    (bytes(range(256)), "every byte"),
    (b"\x1f\x8b\x08\x00not gzip", "what looks compressed"),
)
SECRETS = (
    b"plain", b'quote " backslash \\ tab \t', "ü \u2028 \x85".encode(), b"line\nline\n", b"", b"long " * 200,
)  # fmt: skip
_FILES = ("os.files",)
_ORDINARY = frozenset(b"\t\n" + bytes(range(0x20, 0x7F)))
"""Bytes that every text can hold."""


@CHECKS.check_format("RND-015", features=_FILES)
async def byte_for_byte(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Every content arrives as it is, or is refused."""
    problems = []
    for data, reason in BYTES:
        of = requests.files(requests.file("bytes", data))
        plain = set(data) <= _ORDINARY
        problems += [f"{reason}: {text}" for text in await _arrives(session, info, of, refusable=not plain)]
    if "os.files.remote" in {support.id for support in info.features}:
        of = requests.files(requests.file("bytes", b""))
        of.os.files[0].remote.urls.extend(["https://downloads.example.com/a", "https://spare.example.com/a"])
        of.os.files[0].remote.sha256 = hashlib.sha256().hexdigest()
        problems += [f"two URLs: {text}" for text in await _arrives(session, info, of, refusable=True)]
    all_hold(problems)


@CHECKS.check_format("RND-015", features=_FILES)
async def joined_segments(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Segments are joined without anything in between."""
    of = requests.files(requests.file("segments", b""))
    for part in (b"one", b"\n", b"", b" two", b"three\n"):
        of.os.files[0].content.segments.add(data=part)
    all_hold(await _arrives(session, info, of, refusable=False))


@CHECKS.check_format("RND-016", features=_FILES)
async def spliced_secrets(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Secrets are spliced in as their encoding says."""
    encodings = (
        None,
        contentpb.SPLICE_ENCODING_RAW,
        contentpb.SPLICE_ENCODING_JSON_STRING,
        contentpb.SPLICE_ENCODING_BASE64,
    )
    secrets = [requests.secret("conformance", f"key-{number}", value) for number, value in enumerate(SECRETS)]
    # One that has the key of another one, and not its name.
    secrets.append(requests.secret("elsewhere", "key-0", b"of another name"))
    problems = []
    for encoding in encodings:
        of = requests.files(requests.file("spliced", b"before "), secrets=secrets)
        for one in secrets:
            segment = of.os.files[0].content.segments.add()
            segment.secret_ref.name, segment.secret_ref.key = one.name, one.key
            if encoding is not None:
                segment.encoding = encoding
            of.os.files[0].content.segments.add(data=b" between ")
        name = "unset" if encoding is None else contentpb.SpliceEncoding.Name(encoding)
        problems += [f"{name}: {text}" for text in await _arrives(session, info, of, refusable=True)]
    plain = requests.files(requests.file("spliced", b"before "), secrets=secrets[:1])
    segment = plain.os.files[0].content.segments.add()
    segment.secret_ref.name, segment.secret_ref.key = secrets[0].name, secrets[0].key
    problems += [f"a plain one: {text}" for text in await _arrives(session, info, plain, refusable=False)]
    all_hold(problems)


@CHECKS.check_format("RND-016", features=_FILES)
async def no_text(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Bytes that are no text make no JSON string."""
    held = requests.secret("conformance", "bytes", b"\xff\xfe")
    of = requests.files(requests.file("no-text", b"before "), secrets=[held])
    segment = of.os.files[0].content.segments.add(encoding=contentpb.SPLICE_ENCODING_JSON_STRING)
    segment.secret_ref.name, segment.secret_ref.key = held.name, held.key
    got = await session.subject.render(requests.merged(await session.base(info), of, info))
    right = (got.code, got.info.reason) == ("INVALID_ARGUMENT", "BUNDLE_INVALID")
    expect(right, f"with bytes as a JSON string it ended with {got.described()}")


@CHECKS.check_format("RND-018")
async def core_items(session: Session, info: provisionerpb.FormatInfo) -> None:
    """What the core profile asks for is in the user data."""
    core = profiles.FEATURES.get(profiles.name(info), frozenset())
    request = await session.base(info)
    found = await compared(session, info, request)
    _note(session, info, found, core)
    all_hold([*found.problems, *found.surplus])
    problems = []
    for trial in await feature_trials(session, info):
        if trial.answer.ok and {use.id for use in uses(trial.request.bundle)} <= core:
            tried = await _tried(session, info, trial)
            problems += [f"{trial.case.name}: {text}" for text in (*tried.problems, *tried.surplus)]
    all_hold(problems)
    missing = sorted(found.unverified & core)
    if missing:
        raise Unverified(f"the decoder does not see {', '.join(missing)}")


@CHECKS.check_format("RND-019")
async def extended_items(session: Session, info: provisionerpb.FormatInfo) -> None:
    """What every other declared feature asks for is in the user data."""
    core = profiles.FEATURES.get(profiles.name(info), frozenset())
    problems: list[str] = []
    unseen: set[str] = set()
    seen: set[str] = set()
    for trial in await feature_trials(session, info):
        asked = {use.id for use in uses(trial.request.bundle)} - core
        if not trial.answer.ok or trial.outside or not asked:
            continue
        found = await _tried(session, info, trial)
        problems += [f"{trial.case.name}: {text}" for text in (*found.problems, *found.surplus)]
        _note(session, info, found, asked)
        unseen |= (asked - found.verified) | found.unverified
        seen |= found.verified
    all_hold(problems)
    if unseen - seen - core:
        raise Unverified(f"the decoder does not see {', '.join(sorted(unseen - seen - core))}")


@CHECKS.check_format("EXE-001", form=requests.PLAN)
async def entry_point(session: Session, info: provisionerpb.FormatInfo) -> None:
    """The program is started with exactly its arguments, and without one nothing is."""
    await _nothing_started(session, info)
    request = await session.base(info)
    del request.bundle.plan.entrypoint.argv[1:]
    request.bundle.plan.entrypoint.argv.extend(
        [
            "plain",
            "two words",
            "",
            "it's",
            'say "hi"',
            "$HOME ${HOME} $$",
            "%h %%",
            "back\\slash\\",
            "`id` $(id)",
            "a;b&c|d",
            "*",
            "ü ∂",
            "-",
            "#no comment",
        ]
    )
    found = await compared(session, info, request)
    all_hold([text for text in found.problems if text.startswith("plan.")])
    if "plan.entrypoint" in found.unverified:
        raise Unverified("the decoder does not see plan.entrypoint")


async def _nothing_started(session: Session, info: provisionerpb.FormatInfo) -> None:
    """See that a bundle without an entry point starts nothing. It uses no feature, so there is nothing to refuse.

    Raises:
        Broken: something is started.
        Unverified: nobody can read the user data.
    """
    request = await session.base(info)
    request.bundle.plan.ClearField("entrypoint")
    request = requests.merged(request, bundlepb.BootstrapBundle(), info)
    got = await session.subject.render(request)
    expect(got.ok, f"without an entry point it ended with {got.described()}")
    state = await decoded(session.options, info, got.response)
    started = sum(bool(program.argv) for program in state.programs)
    expect(not started, f"without an entry point the user data starts {started} programs")


async def _arrives(
    session: Session, info: provisionerpb.FormatInfo, of: bundlepb.BootstrapBundle, *, refusable: bool
) -> list[str]:
    """Give what is wrong with a bundle's files; a refusal by name is right too where a format may not hold them.

    Raises:
        Unverified: nobody can read the user data.
    """
    request = requests.merged(await session.base(info), of, info)
    got = await session.subject.render(request)
    if got.info.reason == "UNSUPPORTED_FEATURE":
        return [] if refusable else ["it is refused, and every format can hold it"]
    found = await compared(session, info, request)
    if "os.files" in found.unverified:
        raise Unverified("the decoder does not see os.files")
    return found.problems


async def compared(
    session: Session, info: provisionerpb.FormatInfo, request: provisionerpb.RenderRequest
) -> Comparison:
    """Render a request and compare its user data with its bundle."""
    return await _read(session, info, request, await session.subject.rendered(request))


async def _tried(session: Session, info: provisionerpb.FormatInfo, trial: Trial) -> Comparison:
    """Compare what a case gave with its bundle."""
    return await _read(session, info, trial.request, trial.answer.response)


async def _read(
    session: Session,
    info: provisionerpb.FormatInfo,
    request: provisionerpb.RenderRequest,
    response: provisionerpb.RenderResponse,
) -> Comparison:
    state = await decoded(session.options, info, response)
    windows = requests.is_windows(info)
    found = compare(request.bundle, state, windows=windows)
    found.surplus = surplus(request.bundle, state, windows=windows)
    return found


def _note(session: Session, info: provisionerpb.FormatInfo, found: Comparison, asked: Iterable[str]) -> None:
    for id_ in asked:
        if id_ in found.failed:
            session.ledger.note(info.format, id_, FAILED, "not found in the user data as the bundle says it")
        elif id_ in found.verified:
            session.ledger.note(info.format, id_, VERIFIED)
        else:
            session.ledger.note(info.format, id_, UNVERIFIED, "rendered; the decoder does not see it")
