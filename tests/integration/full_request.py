"""A request for the user data of a machine that asks for nearly everything."""

import base64
import datetime as dt
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.integration.documents import questions

HASH = b"$6$salt$WKhNPNW5.DIvZ8Kw0BbkeIPzlp6c7sHzdlKg"
WORD = 's"e\\cret ü'


def authority() -> str:
    """Give a certificate of an authority, PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "corp")])
    start = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(start).not_valid_after(start + dt.timedelta(days=36500))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


def full_request(machine: str = "cp-0") -> bootstrappb.GetUserDataRequest:
    """Give the request for a machine of full_machine.yaml, the user's secrets with it."""
    every_byte = base64.b64encode(bytes(range(256))).decode()
    path = Path(__file__).with_name("full_machine.yaml")
    question = questions(path, CERTIFICATE=authority(), EVERY_BYTE=every_byte)[machine]
    request = bootstrappb.GetUserDataRequest(subject=question.subject, accept_attachments=True, accept_gzip=True)
    request.subject.spec.provisioner.name = "cloud-init"
    request.credentials.secrets.extend(
        secretpb.Secret(name="team-secrets", key=key, value=value, kind=secretpb.SECRET_KIND_OPAQUE)
        for key, value in (("hash", HASH), ("word", WORD.encode()))
    )
    return request
