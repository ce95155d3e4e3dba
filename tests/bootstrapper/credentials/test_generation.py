"""Generated secrets: what each kind is made of, and that kubeadm and Go can read it."""

import base64
import re
from datetime import datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from hypothesis import given
from hypothesis import strategies as st

from slipway.bootstrapper.credentials.entropy import KeyType, random_text
from slipway.bootstrapper.credentials.generation import KEYS, SecretFactory
from slipway.bootstrapper.credentials.pem import public_key_pem
from slipway.bootstrapper.credentials.store import KeySettings
from slipway.contract.errors import BundleInvalid
from slipway.v1alpha1 import secret_pb2 as secretpb

CA = secretpb.SecretDeclaration(
    name="a.example/ca", kind=secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY, common_name="kubernetes"
)
ED25519_CA = secretpb.SecretDeclaration(
    name="a.example/machine-ca",
    kind=secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY_ED25519,
    organizations=["machines"],
)
CLIENT = secretpb.SecretDeclaration(
    name="a.example/admin",
    kind=secretpb.SECRET_KIND_CLIENT_CERTIFICATE,
    issuer="a.example/machine-ca",
    organizations=["os:admin"],
)


def make(
    factory: SecretFactory, *declarations: secretpb.SecretDeclaration, settings: KeySettings | None = None
) -> dict[tuple[str, str], secretpb.Secret]:
    """Make secrets and give them by name and key."""
    made = factory.make_missing(declarations, existing={}, settings=settings or KeySettings())
    return {(secret.name, secret.key): secret for secret in made}


@pytest.mark.parametrize(
    ("key_type", "label", "size"),
    [
        (KeyType.RSA_2048, b"RSA PRIVATE KEY", 2048),
        (KeyType.ECDSA_P256, b"EC PRIVATE KEY", 256),
        (KeyType.ECDSA_P384, b"EC PRIVATE KEY", 384),
    ],
)
def test_an_authority_is_what_the_kubeadm_provider_makes(
    factory: SecretFactory, now: datetime, key_type: KeyType, label: bytes, size: int
) -> None:
    """Self-signed, valid from five minutes ago for ten years, signs leaves only, key in PKCS #1 or SEC 1."""
    made = make(factory, CA, settings=KeySettings(key_type=key_type))
    certificate = x509.load_pem_x509_certificate(made["a.example/ca", "tls.crt"].value)
    key_pem = made["a.example/ca", "tls.key"].value
    key = load_pem_private_key(key_pem, password=None)
    assert isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey)
    assert key.key_size == size
    assert key_pem.startswith(b"-----BEGIN " + label)
    certificate.verify_directly_issued_by(certificate)
    assert public_key_pem(certificate.public_key()) == public_key_pem(key.public_key())
    assert certificate.subject.rfc4514_string() == "CN=kubernetes"
    seconds = now.replace(microsecond=0)
    assert certificate.not_valid_before_utc == seconds - timedelta(minutes=5)
    assert certificate.not_valid_after_utc == seconds + timedelta(days=3650)
    assert made["a.example/ca", "tls.crt"].expire_time.ToDatetime(now.tzinfo) == certificate.not_valid_after_utc
    constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
    assert (constraints.ca, constraints.path_length) == (True, 0)
    usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    assert usage.key_cert_sign
    assert usage.digital_signature
    assert certificate.serial_number > 1


def test_a_client_is_signed_by_its_authority_even_if_that_is_declared_later(
    factory: SecretFactory, now: datetime
) -> None:
    """Key of the authority's kind, client usage, the declared organization, expiry told and kept."""
    made = make(factory, CLIENT, ED25519_CA)
    authority = x509.load_pem_x509_certificate(made["a.example/machine-ca", "tls.crt"].value)
    client = x509.load_pem_x509_certificate(made["a.example/admin", "tls.crt"].value)
    client.verify_directly_issued_by(authority)
    key = load_pem_private_key(made["a.example/admin", "tls.key"].value, password=None)
    assert isinstance(key, ed25519.Ed25519PrivateKey)
    assert made["a.example/admin", "tls.key"].value.startswith(b"-----BEGIN PRIVATE KEY")
    assert [name.value for name in client.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)] == ["os:admin"]
    assert client.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value == "admin"
    usage = client.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.CLIENT_AUTH]
    assert not client.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert client.not_valid_after_utc == now.replace(microsecond=0) + timedelta(days=365)


def test_a_client_does_not_outlive_its_authority(factory: SecretFactory, now: datetime) -> None:
    """The certificate and its told expiry end with the authority."""
    settings = KeySettings(authority_validity=timedelta(days=30), client_validity=timedelta(days=365))
    made = make(factory, ED25519_CA, CLIENT, settings=settings)
    client = x509.load_pem_x509_certificate(made["a.example/admin", "tls.crt"].value)
    assert client.not_valid_after_utc == now.replace(microsecond=0) + timedelta(days=30)
    assert made["a.example/admin", "tls.key"].expire_time.ToDatetime(now.tzinfo) == client.not_valid_after_utc


def test_a_key_pair_is_a_public_and_a_private_key(factory: SecretFactory) -> None:
    """As the service account's: PKIX public key, no certificate, no expiry."""
    pair = secretpb.SecretDeclaration(name="a.example/sa", kind=secretpb.SECRET_KIND_KEY_PAIR)
    made = make(factory, pair)
    public = load_pem_public_key(made["a.example/sa", "tls.crt"].value)
    private = load_pem_private_key(made["a.example/sa", "tls.key"].value, password=None)
    assert public_key_pem(public) == public_key_pem(private.public_key())
    assert not made["a.example/sa", "tls.key"].HasField("expire_time")


@pytest.mark.parametrize(
    ("kind", "key", "form", "decode"),
    [
        (secretpb.SECRET_KIND_BOOTSTRAP_TOKEN, "token", r"[a-z0-9]{6}\.[a-z0-9]{16}", None),
        (secretpb.SECRET_KIND_RANDOM_BASE64, "value", r"[A-Za-z0-9+/]{43}=", base64.b64decode),
        (secretpb.SECRET_KIND_RANDOM_BASE64_URL, "value", r"[A-Za-z0-9_-]{43}=", base64.urlsafe_b64decode),
    ],
)
def test_random_text_has_the_form_of_its_kind(
    factory: SecretFactory, kind: secretpb.SecretKind.ValueType, key: str, form: str, decode: object
) -> None:
    """Form as the contract says; two of them differ."""
    names = ("a.example/one", "a.example/two")
    made = make(factory, *(secretpb.SecretDeclaration(name=name, kind=kind) for name in names))
    values = [made[name, key].value for name in names]
    assert all(re.fullmatch(form, value.decode()) for value in values)
    assert values[0] != values[1]
    if callable(decode):
        assert len(decode(values[0])) == 32


def test_a_bootstrap_token_expires(factory: SecretFactory, now: datetime) -> None:
    """The token's end is told, as the settings say."""
    token = secretpb.SecretDeclaration(name="a.example/t", kind=secretpb.SECRET_KIND_BOOTSTRAP_TOKEN)
    made = make(factory, token, settings=KeySettings(token_lifetime=timedelta(hours=2)))
    end = made["a.example/t", "token"].expire_time.ToDatetime(now.tzinfo)
    assert end == now.replace(microsecond=0) + timedelta(hours=2)


@pytest.mark.parametrize(
    ("declaration", "field"),
    [
        (secretpb.SecretDeclaration(name="a.example/x", kind=secretpb.SECRET_KIND_OPAQUE), "kind"),
        (secretpb.SecretDeclaration(name="a.example/x"), "kind"),
        (CLIENT, "issuer"),
    ],
)
def test_a_declaration_that_cannot_be_followed_is_refused(
    factory: SecretFactory, declaration: secretpb.SecretDeclaration, field: str
) -> None:
    """The refusal names the declaration and its field."""
    with pytest.raises(BundleInvalid) as caught:
        make(factory, declaration)
    assert [violation.path for violation in caught.value.violations] == [f"secrets[{declaration.name}].{field}"]


def test_what_exists_is_not_made_again(factory: SecretFactory) -> None:
    """Only what is missing is made, and it is signed by the authority that exists."""
    first = make(factory, ED25519_CA)
    existing = {"a.example/machine-ca": {key: secret.value for (_, key), secret in first.items()}}
    second = factory.make_missing([ED25519_CA, CLIENT], existing=existing, settings=KeySettings())
    assert {secret.name for secret in second} == {"a.example/admin"}
    authority = x509.load_pem_x509_certificate(first["a.example/machine-ca", "tls.crt"].value)
    x509.load_pem_x509_certificate(second[0].value).verify_directly_issued_by(authority)


def test_every_kind_of_the_contract_but_opaque_can_be_made() -> None:
    """A kind that is added to the contract must be added here."""
    values = set(secretpb.SecretKind.values())
    assert set(KEYS) == values - {secretpb.SECRET_KIND_UNSPECIFIED, secretpb.SECRET_KIND_OPAQUE}


class Counting:
    """Entropy that gives the bytes it was made with, in turn."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def random_bytes(self, count: int) -> bytes:
        drawn, self.data = self.data[:count], self.data[count:]
        return drawn or b"\x00" * count

    def private_key(self, key_type: KeyType) -> ec.EllipticCurvePrivateKey:
        raise NotImplementedError


@given(st.binary(max_size=60))
def test_random_text_is_letters_and_digits_whatever_is_drawn(data: bytes) -> None:
    """Bytes that would bias the draw are thrown away and drawn again."""
    text = random_text(Counting(data), 22)
    assert re.fullmatch(r"[a-z0-9]{22}", text)
    drawn = [byte for byte in data if byte < 252][:22]
    alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"
    assert text[: len(drawn)] == "".join(alphabet[byte % 36] for byte in drawn)
