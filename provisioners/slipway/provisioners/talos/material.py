"""The cluster's secrets in the shape that Talos wants: base64 of PEM, keys under the labels that it knows."""

import base64
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

from slipway.contract.content import SecretIndex
from slipway.contract.errors import BundleInvalid, CredentialsMissing, Violation
from slipway.provisioners.talos.documents import KeyPair
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb

MACHINE_CA = "talos.slipway.dev/machine-ca"
CLUSTER_TOKEN = "talos.slipway.dev/cluster-token"  # noqa: S105  # the name of a secret
MACHINE_TOKEN = "talos.slipway.dev/machine-token"  # noqa: S105  # the name of a secret
CLUSTER_ID = "talos.slipway.dev/cluster-id"
CLUSTER_SECRET = "talos.slipway.dev/cluster-secret"  # noqa: S105  # the name of a secret
SECRETBOX = "talos.slipway.dev/secretbox"
ADMIN = "talos.slipway.dev/admin"

_CONTROL_PLANES = ("ROLE_INIT", "ROLE_CONTROL_PLANE")
_ALL = (*_CONTROL_PLANES, "ROLE_WORKER")
_CREDENTIALS = "intent.credentials"


def declarations() -> list[secretpb.SecretDeclaration]:
    """Give the secrets that every Talos cluster has and no other cluster knows."""
    declare = secretpb.SecretDeclaration
    return [
        declare(
            name=MACHINE_CA,
            kind=secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY_ED25519,
            full_roles=_CONTROL_PLANES,
            public_roles=["ROLE_WORKER"],
            common_name="talos",
        ),
        # Talos keeps both tokens for the life of the cluster; the cluster's own bootstrap token ends after a day.
        *(
            declare(name=name, kind=secretpb.SECRET_KIND_BOOTSTRAP_TOKEN, full_roles=_ALL, never_expires=True)
            for name in (CLUSTER_TOKEN, MACHINE_TOKEN)
        ),
        declare(name=CLUSTER_ID, kind=secretpb.SECRET_KIND_RANDOM_BASE64_URL, full_roles=_ALL),
        declare(name=CLUSTER_SECRET, kind=secretpb.SECRET_KIND_RANDOM_BASE64, full_roles=_ALL),
        declare(name=SECRETBOX, kind=secretpb.SECRET_KIND_RANDOM_BASE64, full_roles=_CONTROL_PLANES),
        declare(
            name=ADMIN,
            kind=secretpb.SECRET_KIND_CLIENT_CERTIFICATE,
            full_roles=["ROLE_INIT"],
            issuer=MACHINE_CA,
            organizations=["os:admin"],
            common_name="admin",
        ),
    ]


@dataclass(frozen=True)
class Material:
    """The secrets of one bundle."""

    credentials: planpb.ClusterCredentials
    secrets: SecretIndex

    @staticmethod
    def of(bundle: bundlepb.BootstrapBundle) -> "Material":
        """Give the secrets of a bundle."""
        return Material(bundle.intent.credentials, SecretIndex(bundle.secrets))

    def declared(self, name: str, key: str = "value") -> str:
        """Give a text that this provisioner declared.

        Raises:
            CredentialsMissing: the bundle does not hold it.
        """
        return self._declared(name, key).decode("ascii")

    def declared_pair(self, name: str, *, private: bool) -> KeyPair:
        """Give a declared certificate, with its key where `private` says so.

        Raises:
            CredentialsMissing: the bundle does not hold it.
        """
        certificate = _certificate(self._declared(name, "tls.crt"), f"{_CREDENTIALS}.declared")
        if not private:
            return KeyPair(crt=_base64(certificate))
        key = _private_key(self._declared(name, "tls.key"), f"{_CREDENTIALS}.declared")
        return KeyPair(crt=_base64(certificate), key=_base64(key))

    def pair(self, name: str, *, private: bool) -> KeyPair:
        """Give the certificate of a credential of the cluster, with its key where `private` says so."""
        certificate = _certificate(self._referred(name, "certificate"), f"{_CREDENTIALS}.{name}.certificate")
        return KeyPair(crt=_base64(certificate), key=self.key(name).key if private else None)

    def key(self, name: str) -> KeyPair:
        """Give only the private key of a credential of the cluster."""
        path = f"{_CREDENTIALS}.{name}.private_key"
        return KeyPair(key=_base64(_private_key(self._referred(name, "private_key"), path)))

    def _referred(self, name: str, part: str) -> bytes:
        return self._value(getattr(self.credentials, name), part, f"{_CREDENTIALS}.{name}")

    def _value(self, holder: planpb.ClusterCredentials | planpb.KeyPairReference, part: str, path: str) -> bytes:
        if not holder.HasField(part):  # type: ignore[arg-type]  # the stubs want a literal
            raise CredentialsMissing(
                "a secret of the cluster that the role needs is not in the bundle",
                violations=[Violation(f"{path}.{part}", "must be set for this role")],
            )
        return self.secrets.value(getattr(holder, part), path=f"{path}.{part}")

    def _declared(self, name: str, key: str) -> bytes:
        reference = secretpb.SecretReference(name=name, key=key)
        if reference not in self.secrets:
            raise CredentialsMissing(
                "a secret that this provisioner declared is not in the bundle",
                violations=[Violation(f"{_CREDENTIALS}.declared", f"must hold {name} ({key})")],
                metadata={"credentials": name},
            )
        return self.secrets.value(reference)


def certificates(pem: bytes, path: str) -> str:
    """Give one or more PEM certificates as text, after a look at each.

    Raises:
        BundleInvalid: one of them is no certificate; Talos itself would only find out on the machine.
    """
    try:
        x509.load_pem_x509_certificates(pem)
        return pem.decode("ascii")
    except ValueError:
        raise BundleInvalid(
            "a certificate cannot be read", violations=[Violation(path, "must be certificates in PEM")]
        ) from None


def _certificate(pem: bytes, path: str) -> bytes:
    certificates(pem, path)
    return pem


def _private_key(pem: bytes, path: str) -> bytes:
    # Talos before 1.11 does not know the label of PKCS #8, and calls an Ed25519 key by its own.
    try:
        key = serialization.load_pem_private_key(pem, None, unsafe_skip_rsa_key_validation=True)
    except (ValueError, TypeError):
        raise BundleInvalid(
            "a private key cannot be read", violations=[Violation(path, "must be an unencrypted key in PEM")]
        ) from None
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return pem.replace(b" PRIVATE KEY", b" ED25519 PRIVATE KEY") if b"BEGIN PRIVATE KEY" in pem else pem
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
