"""The secrets that an intent refers to by name, and those that a cluster has of which no engine says otherwise."""

from collections.abc import Iterable, Sequence

from slipway.bootstrapper.credentials.generation import CERTIFICATE, PRIVATE_KEY, TOKEN
from slipway.bootstrapper.credentials.pem import public_key_hashes
from slipway.contract.errors import BundleInvalid, Violation
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb

CLUSTER_CA = "slipway.dev/cluster-ca"
ETCD_CA = "slipway.dev/etcd-ca"
FRONT_PROXY_CA = "slipway.dev/front-proxy-ca"
SERVICE_ACCOUNT = "slipway.dev/service-account"
ETCD_CLIENT = "slipway.dev/apiserver-etcd-client"
BOOTSTRAP_TOKEN = "slipway.dev/bootstrap-token"  # noqa: S105 - the name of a secret, not a secret
ENCRYPTION_KEY = "slipway.dev/encryption-key"

_CONTROL_PLANES = ("ROLE_INIT", "ROLE_CONTROL_PLANE")
_WORKERS = ("ROLE_WORKER",)


def cluster_declarations() -> tuple[secretpb.SecretDeclaration, ...]:
    """Declare authorities, the key of service accounts and a bootstrap token, with the usual common names."""
    return (
        authority(CLUSTER_CA, common_name="kubernetes", public_roles=_WORKERS),
        authority(ETCD_CA, common_name="etcd-ca"),
        authority(FRONT_PROXY_CA, common_name="front-proxy-ca"),
        secretpb.SecretDeclaration(
            name=SERVICE_ACCOUNT, kind=secretpb.SECRET_KIND_KEY_PAIR, full_roles=_CONTROL_PLANES
        ),
        secretpb.SecretDeclaration(
            name=BOOTSTRAP_TOKEN,
            kind=secretpb.SECRET_KIND_BOOTSTRAP_TOKEN,
            full_roles=_CONTROL_PLANES + _WORKERS,
        ),
    )


def encryption_key() -> secretpb.SecretDeclaration:
    """Declare the key that encrypts resources at rest, where a compliance profile asks for it."""
    return secretpb.SecretDeclaration(
        name=ENCRYPTION_KEY, kind=secretpb.SECRET_KIND_RANDOM_BASE64, full_roles=_CONTROL_PLANES
    )


def cluster_credentials(
    secrets: Iterable[secretpb.Secret], *, declared: Sequence[secretpb.SecretDeclaration] = ()
) -> planpb.ClusterCredentials:
    """Make the intent's references to `secrets`, which are those that the machine's role may have.

    Args:
        secrets: what the bundle of this machine holds of the cluster's secrets.
        declared: what the format and the engine declared; what has no name of its own in the intent
            is referred to by (name, key).

    Raises:
        BundleInvalid: the cluster's CA is no certificate.
    """
    held = {(secret.name, secret.key): secret for secret in secrets}
    credentials = planpb.ClusterCredentials()
    pairs = {
        CLUSTER_CA: credentials.cluster_ca,
        ETCD_CA: credentials.etcd_ca,
        FRONT_PROXY_CA: credentials.front_proxy_ca,
        SERVICE_ACCOUNT: credentials.service_account,
        ETCD_CLIENT: credentials.etcd_client,
    }
    for name, pair in pairs.items():
        if (name, CERTIFICATE) in held:
            pair.certificate.CopyFrom(secretpb.SecretReference(name=name, key=CERTIFICATE))
        if (name, PRIVATE_KEY) in held:
            pair.private_key.CopyFrom(secretpb.SecretReference(name=name, key=PRIVATE_KEY))
    if (BOOTSTRAP_TOKEN, TOKEN) in held:
        credentials.bootstrap_token.CopyFrom(secretpb.SecretReference(name=BOOTSTRAP_TOKEN, key=TOKEN))
    authority = held.get((CLUSTER_CA, CERTIFICATE))
    if authority is not None:
        credentials.ca_hashes.extend(_hashes(authority))
    names = {declaration.name for declaration in declared} - {*pairs, BOOTSTRAP_TOKEN, ENCRYPTION_KEY}
    credentials.declared.extend(
        secretpb.SecretReference(name=name, key=key) for name, key in sorted(held) if name in names
    )
    return credentials


def _hashes(authority: secretpb.Secret) -> list[str]:
    try:
        return public_key_hashes(authority.value)
    except ValueError:
        raise BundleInvalid(
            "the cluster's CA is no certificate",
            violations=[Violation(f"secrets[{authority.name}]", "must be one or more certificates in PEM")],
        ) from None


def authority(
    name: str,
    *,
    common_name: str,
    full_roles: Sequence[str] = _CONTROL_PLANES,
    public_roles: Sequence[str] = (),
) -> secretpb.SecretDeclaration:
    """Declare an authority; the machines of public roles get its certificate only."""
    return secretpb.SecretDeclaration(
        name=name,
        kind=secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY,
        common_name=common_name,
        full_roles=full_roles,
        public_roles=public_roles,
    )
