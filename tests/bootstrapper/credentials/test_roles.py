"""Roles: what a machine may have of its cluster's secrets, and how its intent refers to that."""

import hashlib

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from slipway.bootstrapper.credentials.cluster_secrets import (
    BOOTSTRAP_TOKEN,
    CLUSTER_CA,
    ETCD_CA,
    FRONT_PROXY_CA,
    SERVICE_ACCOUNT,
    cluster_credentials,
    cluster_declarations,
)
from slipway.bootstrapper.credentials.pem import public_key_hashes
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.credentials.roles import secrets_for_role
from slipway.bootstrapper.credentials.store import ClusterKey, KeySettings
from slipway.contract.errors import BundleInvalid, CredentialsMissing
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import secret_pb2 as secretpb

DECLARED = cluster_declarations()
EXTRA = secretpb.SecretDeclaration(
    name="a.example/id", kind=secretpb.SECRET_KIND_RANDOM_BASE64, full_roles=["ROLE_WORKER"]
)
GREEDY = secretpb.SecretDeclaration(
    name="a.example/ca", kind=secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY, full_roles=["ROLE_WORKER"]
)


@pytest.fixture
def secrets() -> list[secretpb.Secret]:
    """Give all secrets of a cluster."""
    store = PlaceholderStore()
    return list(store.ensure(ClusterKey("c"), [*DECLARED, EXTRA, GREEDY], KeySettings()).secrets)


@pytest.mark.parametrize("role", [clusterpb.ROLE_INIT, clusterpb.ROLE_CONTROL_PLANE])
def test_a_control_plane_has_everything_of_the_cluster(
    secrets: list[secretpb.Secret], role: clusterpb.Role.ValueType
) -> None:
    """Both halves of every pair, and the token."""
    held = {(secret.name, secret.key) for secret in secrets_for_role(secrets, DECLARED, role)}
    pairs = (CLUSTER_CA, ETCD_CA, FRONT_PROXY_CA, SERVICE_ACCOUNT)
    assert held == {(name, key) for name in pairs for key in ("tls.crt", "tls.key")} | {(BOOTSTRAP_TOKEN, "token")}


def test_a_worker_has_no_private_key(secrets: list[secretpb.Secret]) -> None:
    """The CA's certificate and the token; an authority's key not even if somebody declares it for workers."""
    given = secrets_for_role(secrets, [*DECLARED, EXTRA, GREEDY], clusterpb.ROLE_WORKER)
    assert [(secret.name, secret.key) for secret in given] == [
        ("a.example/ca", "tls.crt"),
        ("a.example/id", "value"),
        (BOOTSTRAP_TOKEN, "token"),
        (CLUSTER_CA, "tls.crt"),
    ]
    assert not any(b"PRIVATE KEY" in secret.value for secret in given)


def test_what_is_missing_is_named(secrets: list[secretpb.Secret]) -> None:
    """All missing credentials stand in the error, by name and key."""
    some = [secret for secret in secrets if secret.name not in (ETCD_CA, BOOTSTRAP_TOKEN)]
    with pytest.raises(CredentialsMissing) as caught:
        secrets_for_role(some, DECLARED, clusterpb.ROLE_INIT)
    assert caught.value.metadata["credentials"] == (
        "slipway.dev/bootstrap-token:token,slipway.dev/etcd-ca:tls.crt,slipway.dev/etcd-ca:tls.key"
    )


def test_the_intent_refers_to_what_the_machine_has(secrets: list[secretpb.Secret]) -> None:
    """For a worker: certificate without key, token, hash of the CA, and what was declared besides."""
    held = secrets_for_role(secrets, [*DECLARED, EXTRA], clusterpb.ROLE_WORKER)
    credentials = cluster_credentials(held, declared=[EXTRA])
    assert credentials.cluster_ca.certificate.name == CLUSTER_CA
    assert not credentials.cluster_ca.HasField("private_key")
    assert not credentials.HasField("etcd_ca")
    assert not credentials.HasField("service_account")
    assert credentials.bootstrap_token.key == "token"
    assert [reference.name for reference in credentials.declared] == ["a.example/id"]
    certificate = x509.load_pem_x509_certificate(next(s.value for s in held if s.name == CLUSTER_CA))
    spki = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    assert list(credentials.ca_hashes) == [f"sha256:{hashlib.sha256(spki).hexdigest()}"]


def test_every_certificate_of_a_bundle_is_hashed(secrets: list[secretpb.Secret]) -> None:
    """While a CA is rotated its file holds two certificates, and both are accepted."""
    certificate = next(s.value for s in secrets if (s.name, s.key) == (CLUSTER_CA, "tls.crt"))
    assert len(public_key_hashes(certificate * 2)) == 2


def test_a_ca_that_is_no_certificate_is_refused() -> None:
    """The intent cannot be made from it, and the error does not show it."""
    bad = secretpb.Secret(name=CLUSTER_CA, key="tls.crt", value=b"hunter2")
    with pytest.raises(BundleInvalid) as caught:
        cluster_credentials([bad])
    assert "hunter2" not in str(caught.value.to_status())
