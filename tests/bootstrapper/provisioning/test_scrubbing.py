"""What a provisioner says reaches nobody with a secret of the request in it, or with signs that steer a terminal."""

import base64
import hashlib
from collections.abc import Callable
from urllib.parse import quote

import pytest

from slipway.bootstrapper.provisioning.rendering import render
from slipway.bootstrapper.provisioning.scrubbing import REDACTED, Scrubber
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.contract.errors import SlipwayError, UnsupportedFeature
from slipway.contract.status import Violation
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb

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
    "hexadecimal": lambda value: value.hex(),
    "capitals": lambda value: value.hex().upper(),
    "percent": lambda value: quote(value, safe=""),
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
    assert [one for one in pieces(echoed) if one in scrubbed and one.strip() not in own and "PRIVATE" not in one] == []
    assert REDACTED in scrubbed
    assert "cannot parse" in scrubbed
    assert "os.files[3].content" in scrubbed


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
    ],
)
def test_words_stay(text: str) -> None:
    """A message without a secret is relayed as it is."""
    assert Scrubber(SECRETS).text(text) == text


def test_a_terminal_is_not_steered() -> None:
    """Escapes, line breaks and signs that change the direction of text become blanks."""
    assert Scrubber(()).text("a\x1b[2Jb\nc\x07d\u202ee\x9bf") == "a [2Jb c d e f"


class Echo:
    """A provisioner that repeats all secrets, in an error or in diagnostics."""

    def __init__(self, *, fails: bool) -> None:
        """Choose how it repeats them."""
        self.fails = fails

    async def render(
        self, instance: registrypb.ProvisionerInstance, request: provisionerpb.RenderRequest, *, timeout: float
    ) -> provisionerpb.RenderResponse:
        """Repeat them."""
        del instance, timeout
        every = " ".join(form(one.value) for one in request.bundle.secrets.secrets for form in FORMS.values())
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
        relayed += [text for one in error.violations for text in (one.path, one.description, one.feature, one.remedy)]
    else:
        relayed += [text for one in response.diagnostics for text in (one.code, one.message, one.field_path)]
    assert len(relayed) >= 3
    for secret in SECRETS:
        for line in (secret, *secret.split(b"\n")[1:-2]):
            assert [
                name for name, form in FORMS.items() if any(form(line).rstrip("=") in text for text in relayed)
            ] == []
