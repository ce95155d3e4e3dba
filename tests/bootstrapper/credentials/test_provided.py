"""Provided secrets: what a caller sends is checked, never completed and never mixed with a store's own."""

import asyncio
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest

from slipway.bootstrapper.credentials.cluster_secrets import (
    BOOTSTRAP_TOKEN,
    CLUSTER_CA,
    SERVICE_ACCOUNT,
    cluster_declarations,
)
from slipway.bootstrapper.credentials.ephemeral_store import EphemeralStore
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.credentials.request_store import RequestStore, ensured
from slipway.bootstrapper.credentials.store import AnyStore, ClusterKey, Credentials, KeySettings
from slipway.contract.errors import BundleInvalid
from slipway.v1alpha1 import secret_pb2 as secretpb

CLUSTER = ClusterKey("prod")
SETTINGS = KeySettings()


@pytest.fixture
def material(factory: SecretFactory) -> secretpb.SecretMaterial:
    """Give a complete set of secrets as a caller would send it: kinds unset."""
    secrets = EphemeralStore(factory).ensure(CLUSTER, cluster_declarations(), SETTINGS).secrets
    material = secretpb.SecretMaterial(secrets=secrets)
    for secret in material.secrets:
        secret.ClearField("kind")
    return material


def find(material: secretpb.SecretMaterial, name: str, key: str) -> tuple[int, secretpb.Secret]:
    """Give a secret and its index."""
    return next((i, s) for i, s in enumerate(material.secrets) if (s.name, s.key) == (name, key))


def test_good_secrets_are_given_with_their_kinds(material: secretpb.SecretMaterial) -> None:
    """The bytes are the caller's; the kinds are the declarations'; foreign secrets are not handed on."""
    material.secrets.add(name="password", key="value", value=b"x")
    given = RequestStore(material).ensure(CLUSTER, cluster_declarations(), SETTINGS).secrets
    assert len(given) == len(material.secrets) - 1
    assert all(secret.kind for secret in given)
    assert all(secret.kind == 0 for secret in material.secrets), "the request itself is not changed"


def test_a_request_without_secrets_asks_the_other_store(factory: SecretFactory) -> None:
    """A caller that sends none gets the server's own, where there is a store."""
    empty = secretpb.SecretMaterial()
    other = EphemeralStore(factory)
    assert _given(empty, other).secrets == other.ensure(CLUSTER, cluster_declarations(), SETTINGS).secrets
    assert _given(empty, None).secrets == ()


def test_half_a_set_is_not_completed_from_the_other_store(
    material: secretpb.SecretMaterial, factory: SecretFactory
) -> None:
    """Secrets of two origins are never mixed."""
    half = secretpb.SecretMaterial(secrets=[find(material, CLUSTER_CA, "tls.crt")[1]])
    given = _given(half, EphemeralStore(factory)).secrets
    assert [(secret.name, secret.key) for secret in given] == [(CLUSTER_CA, "tls.crt")]


async def test_a_store_that_is_awaited_takes_no_thread(factory: SecretFactory) -> None:
    """Requests that wait for such a store must not take the threads that its own calls may need."""
    made = EphemeralStore(factory).ensure(CLUSTER, cluster_declarations(), SETTINGS)

    class Far:
        async def give(
            self, cluster: ClusterKey, declarations: Iterable[secretpb.SecretDeclaration], settings: KeySettings
        ) -> Credentials:
            del cluster, declarations, settings
            await asyncio.sleep(0)
            return made

    free = threading.Event()
    with ThreadPoolExecutor(1) as only:
        asyncio.get_running_loop().set_default_executor(only)
        only.submit(free.wait)
        try:
            async with asyncio.timeout(10):
                request = RequestStore(secretpb.SecretMaterial())
                assert await ensured(request, Far(), CLUSTER, cluster_declarations(), SETTINGS) is made
        finally:
            free.set()


def _given(material: secretpb.SecretMaterial, store: AnyStore | None) -> Credentials:
    return asyncio.run(ensured(RequestStore(material), store, CLUSTER, cluster_declarations(), SETTINGS))


@pytest.mark.parametrize(
    ("name", "key", "value", "reason"),
    [
        (CLUSTER_CA, "tls.crt", b"hunter2", "no PEM"),
        (CLUSTER_CA, "tls.crt", b"", "empty"),
        (
            CLUSTER_CA,
            "tls.key",
            b"-----BEGIN EC PRIVATE KEY-----\nhunter2\n-----END EC PRIVATE KEY-----\n",
            "bad PEM",
        ),
        (SERVICE_ACCOUNT, "tls.crt", b"-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n", "empty PEM"),
        (BOOTSTRAP_TOKEN, "token", b"hunter2", "no token"),
        (BOOTSTRAP_TOKEN, "token", b"abcdef.0123456789abcdef\n", "token with a newline"),
        (BOOTSTRAP_TOKEN, "token", b"\xff" * 23, "no text"),
    ],
)
def test_a_malformed_secret_is_named_by_its_place(
    material: secretpb.SecretMaterial, name: str, key: str, value: bytes, reason: str
) -> None:
    """The refusal says which secret, and nothing of it."""
    index, secret = find(material, name, key)
    secret.value = value
    with pytest.raises(BundleInvalid) as caught:
        RequestStore(material).ensure(CLUSTER, cluster_declarations(), SETTINGS)
    assert [violation.path for violation in caught.value.violations] == [f"credentials.secrets[{index}]"], reason
    assert "hunter2" not in str(caught.value.to_status())


@pytest.mark.parametrize("name", [CLUSTER_CA, SERVICE_ACCOUNT])
def test_a_key_of_another_pair_is_refused(material: secretpb.SecretMaterial, factory: SecretFactory, name: str) -> None:
    """Certificate (or public key) and private key must belong together."""
    other = EphemeralStore(factory).ensure(CLUSTER, cluster_declarations(), SETTINGS).secrets
    index, secret = find(material, name, "tls.key")
    secret.value = find(secretpb.SecretMaterial(secrets=other), name, "tls.key")[1].value
    with pytest.raises(BundleInvalid) as caught:
        RequestStore(material).ensure(CLUSTER, cluster_declarations(), SETTINGS)
    assert [violation.path for violation in caught.value.violations] == [f"credentials.secrets[{index}]"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"key": "tls.pem"}, "unknown key"),
        ({"kind": secretpb.SECRET_KIND_BOOTSTRAP_TOKEN}, "another kind"),
        ({"key": "tls.key"}, "given twice"),
    ],
)
def test_a_misnamed_secret_is_refused(
    material: secretpb.SecretMaterial, change: dict[str, object], reason: str
) -> None:
    """Unknown keys, wrong kinds and doubles are errors, not ignored."""
    _, secret = find(material, CLUSTER_CA, "tls.crt")
    for field, value in change.items():
        setattr(secret, field, value)
    with pytest.raises(BundleInvalid):
        RequestStore(material).ensure(CLUSTER, cluster_declarations(), SETTINGS)
    assert reason
