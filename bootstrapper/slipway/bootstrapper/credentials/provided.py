"""Checks secrets that are provided, before machines are built from them.

A certificate with the wrong key boots a control plane that no machine can join; here it is one refused request.
"""

from collections.abc import Mapping, Sequence

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from slipway.bootstrapper.credentials.entropy import BOOTSTRAP_TOKEN
from slipway.bootstrapper.credentials.generation import CERTIFICATE, KEYS, PRIVATE_KEY, TOKEN
from slipway.bootstrapper.credentials.pem import public_key_pem
from slipway.contract.errors import BundleInvalid, Violation
from slipway.v1alpha1 import secret_pb2 as secretpb

_KEY_PAIR = secretpb.SECRET_KIND_KEY_PAIR


def check_provided(
    secrets: Sequence[secretpb.Secret], declarations: Mapping[str, secretpb.SecretDeclaration], *, path: str
) -> None:
    """Check every secret that is declared: its keys, its form, and that certificate and key belong together.

    Raises:
        BundleInvalid: naming each bad secret by its place below `path`.
    """
    violations: list[Violation] = []
    publics: dict[str, bytes] = {}
    seen: set[tuple[str, str]] = set()
    for index, secret in enumerate(secrets):
        where = f"{path}.secrets[{index}]"
        if (secret.name, secret.key) in seen:
            violations.append(Violation(where, "is given twice", remedy="leave out one of them"))
        seen.add((secret.name, secret.key))
        declaration = declarations.get(secret.name)
        if declaration is None:
            continue
        problem, public = _check(secret, declaration)
        if not problem and public and publics.setdefault(secret.name, public) != public:
            problem = "does not belong to the other half of its pair: certificate and key differ"
        if problem:
            violations.append(Violation(where, problem))
    if violations:
        raise BundleInvalid("secrets that were provided cannot be used", violations=violations)


def _check(secret: secretpb.Secret, declaration: secretpb.SecretDeclaration) -> tuple[str, bytes]:
    """Give what is wrong with a secret, and the public key that it holds (PEM)."""
    keys = KEYS.get(declaration.kind, ())
    if secret.kind not in (secretpb.SECRET_KIND_UNSPECIFIED, secretpb.SECRET_KIND_OPAQUE, declaration.kind):
        return "is of another kind than the one that is needed", b""
    if secret.key not in keys:
        return f"has an unknown key: use {' or '.join(keys)}", b""
    if secret.key == TOKEN:
        is_token = BOOTSTRAP_TOKEN.fullmatch(secret.value.decode(errors="replace"))
        return ("" if is_token else "is no bootstrap token: [a-z0-9]{6}.[a-z0-9]{16}"), b""
    if secret.key not in (CERTIFICATE, PRIVATE_KEY):
        return ("" if secret.value else "is empty"), b""
    try:
        return "", public_key_pem(_public_key(secret, declaration))
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return "is no PEM of the kind that is needed, or is encrypted", b""


def _public_key(secret: secretpb.Secret, declaration: secretpb.SecretDeclaration) -> PublicKeyTypes:
    if secret.key == PRIVATE_KEY:
        return load_pem_private_key(secret.value, password=None).public_key()
    if declaration.kind == _KEY_PAIR:
        return load_pem_public_key(secret.value)
    return x509.load_pem_x509_certificates(secret.value)[0].public_key()
