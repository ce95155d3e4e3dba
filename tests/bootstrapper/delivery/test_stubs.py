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

from slipway.bootstrapper.delivery.stubs.formats import MOST_BYTES, STUBS
from slipway.bootstrapper.delivery.stubs.proxy import proxy_for
from slipway.bootstrapper.delivery.stubs.source import Source
from slipway.diagnosis.bootstrap_events import event_of
from slipway.v1alpha1 import os_pb2 as ospb
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
    program, _, call = command.partition("}\nfetch ")
    assert TICKET in call
    assert TICKET not in program
    assert "fetch" not in document
    assert 'echo "$4" | curl' in program
    assert EC.rstrip() in command


@pytest.mark.parametrize("authorities", ["", EC], ids=["system", "authority"])
def test_a_machine_without_its_payload_writes_an_event(authorities: str) -> None:
    """What the stub writes to the console, once the time is in it, is an event of the bundle, as any other step's."""
    document = yaml.safe_load(STUBS["cloud-config"].write(Source(URL, SHA256, TICKET, authorities, "4f0c2f6a9d1be377")))
    (ending,) = [word for word in document["bootcmd"][0].split("'") if word.startswith('{"bundleId"')]
    assert ending.count("%") == 1
    event = event_of(ending.replace("%s", "2026-01-02T03:04:05Z"))
    assert event is not None
    assert (event.bundle_id, event.reason) == ("4f0c2f6a9d1be377", "PayloadNotFetched")


def test_a_stub_without_room_for_an_event_has_a_line_of_text() -> None:
    """It stays within its limit, and the diagnosis knows the line as well."""
    stub = STUBS["cloud-config"].write(Source(GATEWAY, SHA256, TICKET, RSA, "4f0c2f6a9d1be377"))
    assert len(stub) <= MOST_BYTES
    assert b"slipway: no payload" in stub
    assert b"bundleId" not in stub


def test_a_proxy_is_used_before_the_machine_knows_it() -> None:
    """Both kinds of stub name it, and leave it out where there is no name."""
    source = Source(URL, SHA256, TICKET, proxy="http://proxy.example.com:3128")
    assert b'proxy="http://proxy.example.com:3128"' in STUBS["cloud-config"].write(source)
    about = json.loads(STUBS["ignition/3.3.0"].write(source))["ignition"]
    assert about["proxy"] == {"httpsProxy": "http://proxy.example.com:3128"}
    assert b"proxy" not in b"".join(stub.write(Source(URL, SHA256, TICKET)) for stub in STUBS.values())


@pytest.mark.parametrize(
    ("entry", "direct"),
    [
        ("gateway.example.com", True),
        ("example.com", True),
        (".example.com", True),
        ("*.example.com", True),
        ("EXAMPLE.com", True),
        (".gateway.example.com", False),
        ("way.example.com", False),
        ("gateway.example.com:8443", True),
        ("gateway.example.com:443", False),
        ("*", True),
        ("10.0.0.0/8", False),
        ("", False),
    ],
)
def test_what_is_reached_directly_needs_no_proxy(entry: str, direct: bool) -> None:
    """By the rules by which kubelet, container runtime and Ignition read such lists."""
    proxy = ospb.Proxy(https_proxy="http://proxy.example.com", no_proxy=[entry])
    assert (proxy_for("https://gateway.example.com:8443/payload/x", proxy) == "") is direct


def test_addresses_are_reached_directly_by_their_network() -> None:
    """A gateway is often an address."""
    proxy = ospb.Proxy(https_proxy="http://proxy.example.com", no_proxy=["10.0.0.0/8", "fd00::/8"])
    directly = [proxy_for(f"https://{host}/x", proxy) for host in ("10.1.2.3", "[fd00::1]", "192.0.2.1")]
    assert directly == ["", "", "http://proxy.example.com"]
    assert proxy_for("https://192.0.2.1/x", ospb.Proxy(http_proxy="http://proxy.example.com")) == ""


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
