"""Which part of a cluster's secrets a machine may have, by its role.

A worker never gets an authority's private key.
"""

from collections.abc import Iterable, Sequence

from slipway.bootstrapper.credentials.generation import CERTIFICATE, KEYS
from slipway.contract.errors import CredentialsMissing
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import secret_pb2 as secretpb

_AUTHORITIES = (
    secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY,
    secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY_ED25519,
)


def secrets_for_role(
    secrets: Iterable[secretpb.Secret],
    declarations: Sequence[secretpb.SecretDeclaration],
    role: clusterpb.Role.ValueType,
) -> list[secretpb.Secret]:
    """Select what a machine of this role may have and needs, sorted by name and key.

    Raises:
        CredentialsMissing: something that the role needs is not there; the metadata names all of it.
    """
    wanted = {(declared.name, key) for declared in declarations for key in _keys(declared, role)}
    places = {(secret.name, secret.key): secret for secret in secrets}
    missing = ", ".join(f"{name}:{key}" for name, key in sorted(wanted - places.keys()))
    if missing:
        raise CredentialsMissing(
            f"the cluster's credentials are incomplete: provide {missing} in the request or in the store",
            metadata={"credentials": missing.replace(" ", "")},
        )
    given = [places[place] for place in sorted(wanted)]
    # What a secret was made as counts, whatever somebody declares it to be by now.
    if role == clusterpb.ROLE_WORKER:
        return [entry for entry in given if entry.kind not in _AUTHORITIES or entry.key == CERTIFICATE]
    return given


def _keys(declaration: secretpb.SecretDeclaration, role: clusterpb.Role.ValueType) -> tuple[str, ...]:
    name = clusterpb.Role.Name(role)
    is_worker = role == clusterpb.ROLE_WORKER
    if name in declaration.full_roles and not (is_worker and declaration.kind in _AUTHORITIES):
        return KEYS.get(declaration.kind, ())
    if name in declaration.public_roles or name in declaration.full_roles:
        return (CERTIFICATE,)
    return ()
