"""Stubs as text: how large they are, what is in them, and what is refused before there is one."""

import json
from datetime import UTC, datetime

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from slipway.bootstrapper.delivery.stubs.source import Source
from slipway.bootstrapper.delivery.stubs.table import MOST_BYTES, STUBS
from tests.bootstrapper.delivery.sources import TICKET, URL

SHA256 = "ab" * 32
GATEWAY = f"https://slipway-node-gateway.example.com:8443/payload/{'5f' * 32}"
# As Amazon S3 writes it for the credential of a session, whose token has no fixed length: this one has 400 characters.
PRESIGNED = (
    f"https://bootstrap.s3.eu-central-1.amazonaws.com/payload/{'5f' * 32}?X-Amz-Algorithm=AWS4-HMAC-SHA256"
    "&X-Amz-Credential=ASIAIOSFODNN7EXAMPLE%2F20261126%2Feu-central-1%2Fs3%2Faws4_request&X-Amz-Date=20261126T000000Z"
    f"&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature={'5f' * 32}&X-Amz-Security-Token={'A' * 400}"
)


def authority(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> str:
    """Give the certificate of an authority, PEM."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "slipway")])
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(x509.random_serial_number()).not_valid_before(datetime(2026, 1, 1, tzinfo=UTC))
    made = made.not_valid_after(datetime(2036, 1, 1, tzinfo=UTC)).add_extension(x509.BasicConstraints(True, None), True)
    return made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM).decode()


EC = authority(ec.generate_private_key(ec.SECP256R1()))
RSA = authority(rsa.generate_private_key(65537, 2048))
SOURCES = [
    (Source(GATEWAY, SHA256, TICKET), "a server that the system trusts"),
    (Source(GATEWAY, SHA256, TICKET, EC), "an authority with a key of 256 bits"),
    (Source(GATEWAY, SHA256, TICKET, RSA), "an authority with a key of RSA"),
    (Source(PRESIGNED, SHA256), "a pre-signed URL of a session"),
    (Source(PRESIGNED, SHA256, authorities=EC), "a pre-signed URL of a session, and an authority"),
]


@pytest.mark.parametrize("format_", sorted(STUBS))
@pytest.mark.parametrize(("source", "reason"), SOURCES, ids=[row[1] for row in SOURCES])
def test_a_stub_is_small(format_: str, source: Source, reason: str) -> None:
    """It fits wherever user data fit, with all that it has to hold."""
    assert len(STUBS[format_].write(source)) <= MOST_BYTES, reason


@pytest.mark.parametrize("format_", sorted(STUBS))
def test_a_stub_is_the_same_each_time(format_: str) -> None:
    """A controller that makes it again makes the same bytes."""
    assert len({STUBS[format_].write(Source(GATEWAY, SHA256, TICKET, EC)) for _ in range(3)}) == 1


def test_what_vouches_is_in_the_stub_of_ignition() -> None:
    """Ignition verifies the payload, shows the ticket, trusts the authority, and does not try for ever."""
    about = json.loads(STUBS["ignition/3.3.0"].write(Source(URL, SHA256, TICKET, EC)))["ignition"]
    assert about["config"]["replace"] == {
        "source": URL,
        "verification": {"hash": f"sha256-{SHA256}"},
        "httpHeaders": [{"name": "Authorization", "value": f"Bearer {TICKET}"}],
    }
    assert about["timeouts"] == {"httpTotal": 3600}
    (trusted,) = about["security"]["tls"]["certificateAuthorities"]
    assert trusted["source"].startswith("data:,-----BEGIN%20CERTIFICATE-----%0A")
    assert "security" not in json.loads(STUBS["ignition/3.3.0"].write(Source(PRESIGNED, SHA256)))["ignition"]


def test_no_argument_of_a_program_is_a_secret() -> None:
    """The ticket stands in what curl reads, and in nothing that a process list shows."""
    document = yaml.safe_load(STUBS["cloud-config"].write(Source(URL, SHA256, TICKET, EC)))
    (command,) = document["bootcmd"]
    calls = [line for line in command.splitlines() if TICKET in line or URL in line]
    assert len(calls) == 1
    assert "fetch" not in document
    assert "printf '%s\\n' \"$@\" | curl" in command
    assert EC.rstrip() in command


def test_only_plain_cloud_config_can_be_fetched() -> None:
    """cloud-init renders templates in user data only, and a script is no configuration."""
    takes = STUBS["cloud-config"].takes
    payloads = (
        b"#cloud-config\na: b\n",
        b"## template: jinja\n#cloud-config\na: b\n",
        b"#!/bin/sh\n",
        b"#include\nx\n",
    )
    assert [takes(payload) for payload in payloads] == [True, False, False, False]


@pytest.mark.parametrize(
    ("url", "ticket", "reason"),
    [
        ("http://a.example/x", "", "anybody on the way could read the payload"),
        ('https://a.example/"x', "", "curl's configuration would end there"),
        ("https://a.example/\\x", "", "curl would read an escape"),
        ("https://a.example/x\nproxy=b", "", "another line of curl's configuration"),
        ("https://a.example/x", 'a"', "the header would end there"),
        ("https://a.example/x", "a b", "another word"),
    ],
)
def test_what_a_program_would_misread_is_refused(url: str, ticket: str, reason: str) -> None:
    """Nothing that becomes another option of a program gets into a stub, and the error holds no value."""
    with pytest.raises(ValueError, match="must be") as error:
        Source(url, SHA256, ticket)
    assert "a.example" not in str(error.value), reason
