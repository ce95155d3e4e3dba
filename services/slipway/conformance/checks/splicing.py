"""RND: contents of files, byte for byte, and the secrets that are spliced into them."""

import hashlib

from slipway.conformance import requests
from slipway.conformance.check import Checks
from slipway.conformance.checks.meaning import compared
from slipway.conformance.outcome import Unverified, all_hold, expect
from slipway.conformance.session import Session
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()
TYPED = (
    "yes",
    "off",
    "N",
    "null",
    "~",
    "true",
    "0123",
    "1e3",
    "0x1F",
    "1_000",
    "2001-12-31",
    "12:30:45",
    ".inf",
    "=",
    "<<",
)
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
    (b"$HOME ${HOME} ${PATH} %PATH% ~root", "variables that every machine has"),
    (b"'single' \"double\" '' \"\"", "quotes"),
    (b"<a>&amp;</a> ]]>", "XML"),
    (b"%41%25%0A &#65; &amp; \\u0041 \\x41 =41 a+b\n", "what readers of URLs, pages and documents replace"),
    (bytes(range(256)), "every byte"),
    (b"\x1f\x8b\x08\x00not gzip", "what looks compressed"),
    ("\ufeffa byte order mark\n".encode(), "a byte order mark in front"),
    *((word.encode(), "a word that is no text in YAML or JSON") for word in TYPED),
)
SECRETS = (
    b"plain", b'quote " backslash \\ tab \t', "ü \u2028 \x85".encode(), b"line\nline\n", b"", b"long " * 200,
    b">>>???",  # In base64 it has the two characters that URLs have others for.
)  # fmt: skip
ESCAPES = (
    (bytes(range(0x20)) + b'"\\\x7f', "control characters"),
    (
        "".join(map(chr, (*range(0x80, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF))).encode(),
        "what YAML does not take",
    ),
    (b"</script> <!-- & 'a' = +", "what encoders for web pages escape"),
)
_FILES = ("os.files",)
_SEGMENTS = 1000
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
    many = requests.files(requests.file("many-segments", b""))
    for number in range(_SEGMENTS):
        many.os.files[0].content.segments.add(data=b"part %d\n" % number)
    problems = await _arrives(session, info, of, refusable=False)
    problems += [f"{_SEGMENTS} segments: {text}" for text in await _arrives(session, info, many, refusable=False)]
    all_hold(problems)


@CHECKS.check_format("RND-015", features=_FILES)
async def literals_with_an_encoding(session: Session, info: provisionerpb.FormatInfo) -> None:
    """Literals are always raw: one with an encoding arrives as it is, or the bundle is refused."""
    problems = []
    for encoding in (contentpb.SPLICE_ENCODING_BASE64, contentpb.SPLICE_ENCODING_JSON_STRING):
        of = requests.files(requests.file("literal", b""))
        of.os.files[0].content.segments.add(data=b'a "literal"\n', encoding=encoding)
        request = requests.merged(await session.base(info), of, info)
        if (await session.subject.render(request)).info.reason != "BUNDLE_INVALID":
            problems += await _arrives(session, info, of, refusable=True)
    all_hold(problems)


@CHECKS.check_format("RND-016", features=_FILES)
async def binary_secrets(session: Session, info: provisionerpb.FormatInfo) -> None:
    """A secret of any bytes, and a long one, arrives as it is, or is refused."""
    problems = []
    for value, what in (
        (bytes(range(1, 256)) + bytes(range(256)), "a binary secret"),
        (b"4 kB of it, " * 342, "a long secret"),
    ):
        held = requests.secret("conformance", "value", value)
        of = requests.files(requests.file("secret", b"before "), secrets=[held])
        segment = of.os.files[0].content.segments.add()
        segment.secret_ref.name, segment.secret_ref.key = held.name, held.key
        refusable = not set(value) <= _ORDINARY
        problems += [f"{what}: {text}" for text in await _arrives(session, info, of, refusable=refusable)]
    all_hold(problems)


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
async def json_escapes(session: Session, info: provisionerpb.FormatInfo) -> None:
    """In a JSON string what must be escaped is, as it must be, and nothing else; any format can hold the result."""
    problems = []
    for value, what in ESCAPES:
        held = requests.secret("conformance", "odd", value)
        of = requests.files(requests.file("escaped", b"before "), secrets=[held])
        segment = of.os.files[0].content.segments.add(encoding=contentpb.SPLICE_ENCODING_JSON_STRING)
        segment.secret_ref.name, segment.secret_ref.key = held.name, held.key
        problems += [f"{what}: {text}" for text in await _arrives(session, info, of, refusable=False)]
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
