"""From the declaration of a secret to the secret: the only place that knows what each kind is made of."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from slipway.bootstrapper.credentials.certificates import (
    client_certificate,
    distinguished_name,
    self_signed_authority,
)
from slipway.bootstrapper.credentials.entropy import (
    Entropy,
    KeyType,
    PrivateKey,
    bootstrap_token,
    random_base64,
    random_base64_url,
)
from slipway.bootstrapper.credentials.pem import certificate_pem, private_key_pem, public_key_pem
from slipway.bootstrapper.credentials.store import KeySettings
from slipway.contract.errors import BundleInvalid, Violation
from slipway.v1alpha1 import secret_pb2 as secretpb

CERTIFICATE = "tls.crt"
PRIVATE_KEY = "tls.key"
TOKEN = "token"  # noqa: S105 - the name of a key, not a token
VALUE = "value"

KEYS: Mapping[secretpb.SecretKind.ValueType, tuple[str, ...]] = {
    secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY: (CERTIFICATE, PRIVATE_KEY),
    secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY_ED25519: (CERTIFICATE, PRIVATE_KEY),
    secretpb.SECRET_KIND_KEY_PAIR: (CERTIFICATE, PRIVATE_KEY),
    secretpb.SECRET_KIND_CLIENT_CERTIFICATE: (CERTIFICATE, PRIVATE_KEY),
    secretpb.SECRET_KIND_BOOTSTRAP_TOKEN: (TOKEN,),
    secretpb.SECRET_KIND_RANDOM_BASE64: (VALUE,),
    secretpb.SECRET_KIND_RANDOM_BASE64_URL: (VALUE,),
}
"""The closed list of kinds that can be generated, with the keys that a secret of the kind has."""

_AUTHORITIES = (
    secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY,
    secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY_ED25519,
)

Values = dict[str, bytes]
Existing = Mapping[str, Values]
Made = tuple[Values, timedelta | None]


class SecretFactory:
    """Makes secrets; `clock` gives the time with its zone."""

    def __init__(self, *, entropy: Entropy, clock: Callable[[], datetime]) -> None:
        """Make a factory on a source of randomness and a clock."""
        self._entropy = entropy
        self._clock = clock

    def expired(self, secret: secretpb.Secret) -> bool:
        """Return whether a secret that this factory made is not accepted any more."""
        return secret.HasField("expire_time") and secret.expire_time.ToDatetime(tzinfo=UTC) <= self._clock()

    def make_missing(
        self,
        declarations: Iterable[secretpb.SecretDeclaration],
        *,
        existing: Existing,
        settings: KeySettings,
    ) -> list[secretpb.Secret]:
        """Make every declared secret whose name is not in `existing`; authorities come before what they sign.

        Raises:
            BundleInvalid: a declaration names no kind of the closed list, or an authority not at hand.
        """
        known: dict[str, Values] = dict(existing)
        made: list[secretpb.Secret] = []
        for declaration in sorted(declarations, key=lambda declared: bool(declared.issuer)):
            if declaration.name not in known:
                secrets = self._make(declaration, known=known, settings=settings)
                known[declaration.name] = {secret.key: secret.value for secret in secrets}
                made += secrets
        return made

    def _make(
        self, declaration: secretpb.SecretDeclaration, *, known: Existing, settings: KeySettings
    ) -> list[secretpb.Secret]:
        # Certificates hold whole seconds; what is told of them must not promise more.
        now = self._clock().replace(microsecond=0)
        values, lifetime = self._values(declaration, known=known, settings=settings, now=now)
        secrets = []
        for key, value in values.items():
            secret = secretpb.Secret(name=declaration.name, key=key, kind=declaration.kind, value=value)
            if lifetime is not None:
                secret.expire_time.FromDatetime(now + lifetime)
            secrets.append(secret)
        return secrets

    def _values(
        self,
        declaration: secretpb.SecretDeclaration,
        *,
        known: Existing,
        settings: KeySettings,
        now: datetime,
    ) -> Made:
        kind = declaration.kind
        if kind in _AUTHORITIES:
            return self._authority(declaration, settings=settings, now=now)
        if kind == secretpb.SECRET_KIND_KEY_PAIR:
            key = self._entropy.private_key(settings.key_type)
            return {CERTIFICATE: public_key_pem(key.public_key()), PRIVATE_KEY: private_key_pem(key)}, None
        if kind == secretpb.SECRET_KIND_CLIENT_CERTIFICATE:
            return self._client(declaration, known=known, settings=settings, now=now)
        if kind == secretpb.SECRET_KIND_BOOTSTRAP_TOKEN:
            lifetime = None if declaration.never_expires else settings.token_lifetime
            return {TOKEN: bootstrap_token(self._entropy)}, lifetime
        if kind == secretpb.SECRET_KIND_RANDOM_BASE64:
            return {VALUE: random_base64(self._entropy)}, None
        if kind == secretpb.SECRET_KIND_RANDOM_BASE64_URL:
            return {VALUE: random_base64_url(self._entropy)}, None
        raise _bad_declaration(declaration, "kind", "is not a kind that can be generated")

    def _authority(self, declaration: secretpb.SecretDeclaration, *, settings: KeySettings, now: datetime) -> Made:
        is_ed25519 = declaration.kind == secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY_ED25519
        key = self._entropy.private_key(KeyType.ED25519 if is_ed25519 else settings.key_type)
        certificate = self_signed_authority(
            key,
            subject=_subject(declaration),
            now=now,
            validity=settings.authority_validity,
            entropy=self._entropy,
        )
        return _pair(certificate, key), settings.authority_validity

    def _client(
        self,
        declaration: secretpb.SecretDeclaration,
        *,
        known: Existing,
        settings: KeySettings,
        now: datetime,
    ) -> Made:
        authority = known.get(declaration.issuer, {})
        if not authority.get(CERTIFICATE) or not authority.get(PRIVATE_KEY):
            raise _bad_declaration(declaration, "issuer", "names no authority whose key is at hand")
        issuer_key = load_pem_private_key(authority[PRIVATE_KEY], password=None)
        if not isinstance(issuer_key, PrivateKey):
            raise _bad_declaration(declaration, "issuer", "names an authority with a key of an unknown kind")
        issuer = x509.load_pem_x509_certificate(authority[CERTIFICATE])
        key = self._entropy.private_key(_type_of(issuer_key, settings))
        certificate = client_certificate(
            key,
            subject=_subject(declaration),
            issuer=issuer,
            issuer_key=issuer_key,
            now=now,
            validity=settings.client_validity,
            entropy=self._entropy,
        )
        return _pair(certificate, key), certificate.not_valid_after_utc - now


def _pair(certificate: x509.Certificate, key: PrivateKey) -> Values:
    return {CERTIFICATE: certificate_pem(certificate), PRIVATE_KEY: private_key_pem(key)}


def _type_of(issuer_key: PrivateKey, settings: KeySettings) -> KeyType:
    return KeyType.ED25519 if isinstance(issuer_key, ed25519.Ed25519PrivateKey) else settings.key_type


def _subject(declaration: secretpb.SecretDeclaration) -> x509.Name:
    common_name = declaration.common_name or declaration.name.rpartition("/")[2]
    return distinguished_name(common_name, declaration.organizations)


def _bad_declaration(declaration: secretpb.SecretDeclaration, field: str, problem: str) -> BundleInvalid:
    return BundleInvalid(
        f"the declaration of the secret {declaration.name} cannot be followed: its {field} {problem}",
        violations=[Violation(f"secrets[{declaration.name}].{field}", problem)],
    )
