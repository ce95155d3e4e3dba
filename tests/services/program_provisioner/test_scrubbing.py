"""Nothing of a request is in what is logged of a program, however it prints it."""

import base64
import json
import urllib.parse
from collections.abc import Callable

import pytest
from google.protobuf.json_format import MessageToJson

from slipway.program_provisioner.scrubbing import Scrubber
from slipway.sdk import testing
from tests.services.program_provisioner.programs import SECRET, request

SECRETS = (SECRET.decode(), base64.b64encode(SECRET).decode(), SECRET.hex(), "correct", "horse", "battery")
WHOLE = request().SerializeToString()


@pytest.mark.parametrize(
    ("dump", "reason"),
    [
        (SECRET.decode, "as it is"),
        (lambda: SECRET.decode().upper(), "in other letters"),
        (lambda: SECRET.decode()[3:-3], "a part of it"),
        (lambda: base64.b64encode(SECRET).decode(), "base64"),
        (lambda: base64.b64encode(b"a" + SECRET).decode(), "base64 that begins elsewhere"),
        (lambda: base64.b32encode(SECRET).decode(), "base32"),
        (lambda: base64.b32encode(b"a" + SECRET).decode().lower(), "base32 that begins elsewhere"),
        (SECRET.hex, "hexadecimal"),
        (lambda: SECRET.hex(" "), "pairs of digits"),
        (lambda: SECRET.hex().encode().hex(), "hexadecimal twice"),
        (lambda: base64.b64encode(SECRET.hex().encode()).decode(), "hexadecimal in base64"),
        (lambda: str(list(SECRET)), "numbers"),
        (lambda: json.dumps({"type": "Buffer", "data": list(SECRET)}, indent=1), "numbers, each on a line"),
        (lambda: urllib.parse.quote(SECRET.decode()), "for an address"),
        (lambda: MessageToJson(request()), "the whole request"),
        (lambda: repr(WHOLE), "the whole request as bytes"),
        (lambda: base64.encodebytes(WHOLE).decode(), "the whole request in lines of base64"),
    ],
)
def test_a_dump_is_removed(dump: Callable[[], str], reason: str) -> None:
    """No six characters of a secret stay, in none of the ways in which programs print bytes."""
    text = dump()
    shown = Scrubber(request()).fragments(f"failed: {text} at line 7")
    assert text not in shown, reason
    for form in SECRETS:
        assert form not in shown, reason
        pieces = [form[start : start + 6] for start in range(len(form) - 5)]
        assert not [piece for piece in pieces if piece.lower() in shown.lower()], reason


@pytest.mark.parametrize(
    ("value", "width", "reason"),
    [
        (b"hunter2", 76, "a short value"),
        (b"a-long-one1", 76, "a value whose base32 is a long word with its padding only"),
        (SECRET, 24, "the last line of a long value"),
        (SECRET * 9, 71, "the last line of a longer value"),
    ],
)
def test_base32_in_lines_is_removed(value: bytes, width: int, reason: str) -> None:
    """No six letters of it stay, where a line of it is no long word."""
    form = base64.b32encode(value).decode().rstrip("=")
    text = "\n".join(form[start : start + width] for start in range(0, len(form), width))
    shown = Scrubber(testing.secret("s", "value", value)).fragments(f"failed: {text}\nat line 7")
    assert not [form[start : start + 6] for start in range(len(form) - 5) if form[start : start + 6] in shown], reason
    assert shown.startswith("failed: ")
    assert shown.endswith("at line 7")


def test_what_is_of_no_request_stays() -> None:
    """The program's own words are what a person needs."""
    assert Scrubber(request()).fragments("no jq on this machine, line 12") == "no jq on this machine, line 12"


def test_its_repr_shows_nothing() -> None:
    """It holds secrets, and ends in no trace."""
    assert repr(Scrubber(request())) == "Scrubber(RenderRequest)"
