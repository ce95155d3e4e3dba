"""What a provisioner says reaches nobody with a secret of the request in it, or with signs that steer a terminal."""

import base64
import hashlib
import random
import tracemalloc
from collections.abc import Callable
from functools import partial
from urllib.parse import quote

import pytest

from slipway.bootstrapper.provisioning.rendering import render
from slipway.bootstrapper.provisioning.scrubbing import LEFT_OUT, REDACTED, Scrubber
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.contract.errors import ProvisionerFailed, SlipwayError, UnsupportedFeature
from slipway.contract.status import Violation
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from tests.counted_work import lines_run

KEY = (
    "-----BEGIN EC PRIVATE KEY-----\n"
    + "\n".join(base64.b64encode(hashlib.sha512(bytes([n])).digest()[:48]).decode() for n in range(3))
    + "\n-----END EC PRIVATE KEY-----\n"
).encode()
TOKEN = b"abcdef.0123456789abcdef"
PASSWORD = b"pa55 w0rd"
SECRETS = (KEY, TOKEN, PASSWORD)

FORMS: dict[str, Callable[[bytes], str]] = {
    "raw": lambda value: value.decode(),
    "base64": lambda value: base64.b64encode(value).decode(),
    "base64 of more": lambda value: base64.b64encode(b"x" + value + b"yz").decode(),
    "base64 for URLs": lambda value: base64.urlsafe_b64encode(value).decode(),
    "base32": lambda value: base64.b32encode(value).decode(),
    "base32 in small letters": lambda value: base64.b32encode(value).decode().rstrip("=").lower(),
    "base32 of more": lambda value: base64.b32encode(b"abc" + value + b"d").decode(),
    "hexadecimal": lambda value: value.hex(),
    "capitals": lambda value: value.hex().upper(),
    "percent": lambda value: quote(value, safe=""),
    "percent of all": lambda value: "".join(f"%{byte:02x}" for byte in value),
    "escapes of JSON": lambda value: "".join(f"\\u{byte:04x}" for byte in value),
    "escapes of C": lambda value: "".join(f"\\x{byte:02X}" for byte in value),
    "octal escapes": lambda value: "".join(f"\\{byte:03o}" for byte in value),
    "entities": lambda value: "".join(f"&#{byte};" for byte in value),
    "numbers as Go prints them": lambda value: f"[{' '.join(map(str, value))}]",
    "numbers as Python prints them": lambda value: str(list(value)),
    "UTF-16 in base64": lambda value: base64.b64encode(value.decode().encode("utf-16-le")).decode(),
    "UTF-16 in hexadecimal": lambda value: value.decode().encode("utf-16-be").hex(),
}

SPLITS: dict[str, Callable[[str], str]] = {
    "lines": lambda text: "\n".join(text[at : at + 8] for at in range(0, len(text), 8)),
    "pairs": lambda text: ":".join(text[at : at + 2] for at in range(0, len(text), 2)),
    "numbered words": " - ".join,
    "colours": lambda text: "".join(f"\x1b[{30 + at % 8}m{sign}\x1b[0m" for at, sign in enumerate(text)),
    "a title of the window": lambda text: "".join(f"{sign}\x1b]0;title\x07" for sign in text),
    "an escape without an end": lambda text: text[:5] + "\x1b" + text[5:],
    "signs without width": "\u200b".join,
    "zeros": "\x00".join,
}


def pieces(text: str) -> list[str]:
    """Return what of a text would betray it: every piece of sixteen characters, or all of it."""
    return [text[at : at + 16] for at in range(len(text) - 15)] or [text]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secret", [KEY, TOKEN], ids=["key", "token"])
def test_no_piece_of_a_secret_is_left(form: str, secret: bytes) -> None:
    """In any common encoding, whole or in part, within other words."""
    echoed = FORMS[form](secret)
    middle = echoed[len(echoed) // 4 : -len(echoed) // 4]
    scrubbed = Scrubber(SECRETS).text(f"cannot parse '{echoed}' at os.files[3].content; near={middle}.")
    own = "-----BEGIN EC PRIVATE KEY----------END EC PRIVATE KEY-----"
    assert [
        piece for piece in pieces(echoed) if piece in scrubbed and piece.strip() not in own and "PRIVATE" not in piece
    ] == []
    assert REDACTED in scrubbed
    assert "cannot parse" in scrubbed
    assert "os.files[3].content" in scrubbed


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secret", SECRETS, ids=["key", "token", "password"])
def test_no_piece_of_a_split_secret_is_left(secret: bytes, form: str, split: str) -> None:
    """Whatever stands between its letters: no six of them in a row are left, and no colour of a terminal."""
    echoed = FORMS[form](secret)[-1200:]
    scrubbed = Scrubber(SECRETS).text(f"cannot parse {SPLITS[split](echoed)} in the bundle")
    letters = [sign for sign in echoed if sign.isalnum()]
    remaining = "".join(sign for sign in scrubbed if sign.isalnum()).replace("redacted", " ")
    own = "beginecprivatekeyendecprivatekey"
    kept = ["".join(letters[at : at + 6]) for at in range(len(letters) - 5)]
    assert [piece for piece in kept if piece in remaining and piece.lower() not in own] == []
    assert REDACTED in scrubbed
    assert scrubbed.startswith("cannot parse ")
    assert scrubbed.isprintable()


def test_the_work_for_a_text_grows_with_its_length_alone() -> None:
    """No provisioner stops a bootstrapper with its texts: neither many secrets nor long ones make them cost more."""
    numbers = random.Random(0)
    few, many = (
        Scrubber([*(numbers.randbytes(2400) for _ in range(times)), b"0" * 700 * times, b"ab" * 200 * times])
        for times in (6, 24)
    )
    texts = (
        numbers.randbytes(2000).hex(),
        "0" * 4096,
        "ab" * 2048,
        ("ab" * 5 + "x") * 372,
        "a.b" * 1365,
        "\x1b[" * 2048,
    )
    for scrubber in (few, many):
        # What is made once, for the first text.
        scrubber.text("0" * 4096)
    for text in texts:
        whole = lines_run(partial(many.text, text))
        half = lines_run(partial(many.text, text[: len(text) // 2]))
        assert whole <= 2.2 * half + 1000
        assert whole <= 1.2 * lines_run(partial(few.text, text)) + 1000


def test_more_secrets_than_can_be_searched_for_leave_names_only() -> None:
    """A machine's secrets may have two megabytes: an error about it costs little, and keeps its place."""
    secret = base64.b64encode(random.Random(0).randbytes(1_500_000))
    tracemalloc.start()
    try:
        error = Scrubber([secret]).error(
            UnsupportedFeature(
                f"cannot parse {secret[700:760].decode()}",
                violations=[Violation("os.files[3].content", secret[900:999].decode(), "os.files", "leave it out")],
                metadata={"features": "os.files"},
            )
        )
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
    assert error.message == LEFT_OUT
    assert error.violations == (Violation("os.files[3].content", LEFT_OUT, "os.files", LEFT_OUT),)
    assert error.metadata == {"features": "os.files"}


def test_very_many_diagnostics_are_counted_and_not_relayed() -> None:
    """An answer holds 4 MiB of them; the first stay, and the caller learns how many do not."""
    response = provisionerpb.RenderResponse()
    for number in range(1000):
        response.diagnostics.add(code="X", message=f"{number} " + "word " * 100, field_path="os.files[0]")
    Scrubber(SECRETS).diagnostics(response)
    assert 100 < len(response.diagnostics) < 200
    assert response.diagnostics[-2].message.startswith(f"{len(response.diagnostics) - 2} ")
    assert response.diagnostics[-1].code == "DIAGNOSTICS_LEFT_OUT"
    assert f" {1001 - len(response.diagnostics)} more " in response.diagnostics[-1].message


@pytest.mark.parametrize("form", FORMS)
def test_a_short_secret_is_found_as_a_whole(form: str) -> None:
    """A password is shorter than a piece; it is looked for in every form."""
    echoed = FORMS[form](PASSWORD)
    assert echoed.rstrip("=") not in Scrubber(SECRETS).text(f"wrong password {echoed} of user ann")


@pytest.mark.parametrize(
    "text",
    [
        "os.files[3].mode: must be one of 0644, 0600 (see https://example.com/very/long/path?with=query)",
        "kubernetes.kubelet.extra_arguments[12].value is not supported by implementation 1.2.3-rc.1+build",
        "Größe überschritten: 48 MiB",
        "the EC private key of the certificate authority cannot be read",
    ],
)
def test_words_stay(text: str) -> None:
    """A message without a secret is relayed as it is."""
    assert Scrubber(SECRETS).text(text) == text


def test_a_terminal_is_not_steered() -> None:
    """Escapes, line breaks and signs that change the direction of text become blanks."""
    assert Scrubber(()).text("a\x1b[2Jb\nc\x07d\u202ee\x9bf") == "a [2Jb c d e f"


class Echo:
    """A provisioner that repeats all secrets: in an error, in diagnostics, or beside the content of attachments."""

    def __init__(self, *, fails: bool = False, name: str = "a", media_type: str = "") -> None:
        """Choose how it repeats them."""
        self.fails = fails
        self.name = name
        self.media_type = media_type

    async def render(
        self, instance: registrypb.ProvisionerInstance, request: provisionerpb.RenderRequest, *, timeout: float
    ) -> provisionerpb.RenderResponse:
        """Repeat them."""
        del instance, timeout
        every = " ".join(form(secret.value) for secret in request.bundle.secrets.secrets for form in FORMS.values())
        if self.fails:
            raise UnsupportedFeature(
                every, violations=[Violation(every, every, every, every)], metadata={"features": every}
            )
        data = b"#cloud-config\n"
        response = provisionerpb.RenderResponse(
            request_tag=request.request_tag,
            user_data=data,
            format=request.format,
            sha256=hashlib.sha256(data).digest(),
        )
        if self.name != "a" or self.media_type:
            sha256 = hashlib.sha256(b"").digest()
            response.attachments.add(name=self.name, media_type=self.media_type, sha256=sha256)
        response.diagnostics.add(code=every, message=every, field_path=every)
        return response


@pytest.mark.parametrize("fails", [True, False], ids=["error", "diagnostic"])
async def test_an_echo_is_not_relayed(fails: bool) -> None:
    """Message, violations, metadata and diagnostics: no secret in any of them, in any form."""
    bundle = bundlepb.BootstrapBundle()
    for number, value in enumerate(SECRETS):
        bundle.secrets.secrets.add(name=f"s{number}", key="k", value=value)
    candidate = Candidate(
        "echo", "1.0.0", provisionerpb.FormatInfo(format="cloud-config"), (registrypb.ProvisionerInstance(),)
    )
    relayed: list[str] = []
    try:
        response, _ = await render(Echo(fails=fails), candidate, bundle, accept_attachments=False)  # type: ignore[arg-type]
    except SlipwayError as error:
        relayed += [str(error), error.message, repr(error), *error.metadata.values()]
        relayed += [
            text
            for violation in error.violations
            for text in (violation.path, violation.description, violation.feature, violation.remedy)
        ]
    else:
        relayed += [
            text
            for diagnostic in response.diagnostics
            for text in (diagnostic.code, diagnostic.message, diagnostic.field_path)
        ]
    assert len(relayed) >= 3
    for secret in SECRETS:
        for line in (secret, *secret.split(b"\n")[1:-2]):
            assert [
                name for name, form in FORMS.items() if any(form(line).rstrip("=") in text for text in relayed)
            ] == []


@pytest.mark.parametrize(
    ("echo", "what"),
    [
        (Echo(name=TOKEN.decode()), "name"),
        (Echo(name=base64.b64encode(KEY[40:70]).decode().replace("/", "_")), "name"),
        (Echo(name="a\x1b[2J"), "name"),
        (Echo(media_type="text/" + TOKEN.decode()), "media type"),
        (Echo(media_type="text/plain\r\nx: y"), "media type"),
    ],
    ids=["raw", "base64", "escape", "media type", "line break"],
)
async def test_names_of_attachments_are_no_way_out(echo: Echo, what: str) -> None:
    """They become keys, file names and headers: an answer whose names hold a secret is refused, and not repeated."""
    bundle = bundlepb.BootstrapBundle()
    for number, value in enumerate(SECRETS):
        bundle.secrets.secrets.add(name=f"s{number}", key="k", value=value)
    candidate = Candidate(
        "echo", "1.0.0", provisionerpb.FormatInfo(format="cloud-config"), (registrypb.ProvisionerInstance(),)
    )
    with pytest.raises(ProvisionerFailed, match=f"{what}.* holds a secret or a control character") as caught:
        await render(echo, candidate, bundle, accept_attachments=True)  # type: ignore[arg-type]
    assert TOKEN.decode() not in str(caught.value)
