"""Secrets of a cluster: whose they are, and an expired certificate that two controllers make anew at once."""

import base64
from dataclasses import replace
from itertools import permutations, product

import pytest

from slipway.bootstrapper.credentials.cluster_secrets import CLUSTER_CA, ENCRYPTION_KEY, encryption_key
from slipway.bootstrapper.credentials.store import ClusterKey, KeySettings
from slipway.bootstrapper.policy import check_declarations
from slipway.contract.errors import ProvisionerNotAllowed
from slipway.controller.cluster_object import CLUSTER_LABEL, ClusterObject
from slipway.controller.cluster_store import SUFFIXES, ClusterStore, secret_name
from slipway.controller.halt import Halt
from slipway.controller.secret_reader import NAME_ANNOTATION, SecretReader
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.services.controller.scene import CLUSTER, authority_pem, cluster_object
from tests.services.kubernetes_api.memory_api import NOW, Call, MemoryApi

NAME = "slipway.dev/client"


def store_of(api: MemoryApi) -> ClusterStore:
    """Return the store of the first machine of the cluster."""
    return ClusterStore(
        objects=api,
        reader=SecretReader(api, api.lookup("Secret"), api.lookup("Cluster")),
        clock=lambda: NOW,
        cluster=ClusterObject(api.put(cluster_object())),
        role=clusterpb.ROLE_INIT,
        token="",
    )


def named_store(api: MemoryApi, cluster: str) -> ClusterStore:
    """Return the store of the first machine of a cluster of any name."""
    tree = cluster_object()
    metadata = {**tree["metadata"], "name": cluster, "uid": f"uid of {cluster}"}
    return replace(store_of(api), cluster=ClusterObject({**tree, "metadata": metadata}))


def is_allowed(provisioner: str, secret: str) -> bool:
    """Report whether a provisioner may declare a secret."""
    try:
        check_declarations(provisioner, provisionerpb.FormatInfo(secrets=[secretpb.SecretDeclaration(name=secret)]))
    except ProvisionerNotAllowed:
        return False
    return True


def test_no_two_secrets_of_a_cluster_share_a_secret() -> None:
    """Over all ways to divide some words into a domain and a name: two that may be declared never meet."""
    words = ("talos", "slipway", "dev", "machine-ca")
    names = {
        f"{'.'.join(order[:cut])}/{separator.join(order[cut:])}"
        for order in permutations(words)
        for cut, separator in product(range(1, len(words)), ".-/")
    }
    allowed = {
        name
        for name in names
        for provisioner in (name.partition("/")[0], name.partition("/")[0].removesuffix(".slipway.dev"))
        if is_allowed(provisioner, name)
    }
    assert "talos.slipway.dev/machine-ca" in allowed
    assert "talos.slipway/dev.machine-ca" not in allowed
    places = [secret_name("c", name) for name in (*sorted(allowed), *SUFFIXES)]
    assert len(places) == len(set(places))


async def test_no_cluster_is_given_a_secret_of_another() -> None:
    """Over all pairs of cluster and name: what one has stored is given to no other, whatever their names hold."""
    clusters = [
        *("a", "a-b", "a-b.dev", "a-x.dev", "a-x.dev.m", "a-x.dev.m-etcd", "a-b-x.dev.m", "a-slipway.dev.encryption"),
        *(f"a-x.dev.m-{suffix}" for suffix in SUFFIXES.values()),
    ]
    names = [
        *SUFFIXES,
        ENCRYPTION_KEY,
        *(f"{domain}/{label}" for domain in ("x.dev", "b-x.dev") for label in ("m", "ca", "m-ca", "m-etcd-ca")),
        *(f"x.dev/m-{suffix}" for suffix in SUFFIXES.values()),
    ]
    places = list(product(clusters, names))
    met = set()
    for cluster, name in places:
        api = MemoryApi()
        declared = secretpb.SecretDeclaration(name=name, kind=secretpb.SECRET_KIND_KEY_PAIR)
        await named_store(api, cluster)._store(declared, [secretpb.Secret(name=name, key="tls.key", value=b"kept")])
        stored = secret_name(cluster, name)
        for other in [place for place in places if place != (cluster, name) and secret_name(*place) == stored]:
            met.add(frozenset([(cluster, name), other]))
            declared = secretpb.SecretDeclaration(name=other[1], kind=secretpb.SECRET_KIND_KEY_PAIR)
            with pytest.raises(Halt, match="does not belong"):
                await named_store(api, other[0])._read(declared)
    assert {("a", "x.dev/m-ca"), ("a-x.dev.m", CLUSTER_CA)} in met
    assert {("a", "b-x.dev/m"), ("a-b", "x.dev/m")} in met


@pytest.mark.parametrize(
    ("labels", "annotations", "refused", "reason"),
    [
        ({CLUSTER_LABEL: CLUSTER}, {NAME_ANNOTATION: NAME}, False, "its own"),
        ({CLUSTER_LABEL: CLUSTER}, {}, False, "of version 0.1.0"),
        ({CLUSTER_LABEL: CLUSTER}, {NAME_ANNOTATION: "slipway/dev.client"}, True, "another secret of the cluster"),
        ({CLUSTER_LABEL: "other"}, {NAME_ANNOTATION: NAME}, True, "another cluster's"),
        ({}, {NAME_ANNOTATION: NAME}, True, "of no cluster"),
    ],
)
async def test_a_secret_of_another_is_never_given(
    labels: dict[str, str], annotations: dict[str, str], refused: bool, reason: str
) -> None:
    """A Secret whose name happens to fit is used only where its marks say that it is the declared one."""
    api = MemoryApi()
    name = f"{CLUSTER}-slipway.dev.client"
    data = {"key": base64.b64encode(b"value").decode()}
    metadata = {"name": name, "uid": "u", "labels": labels, "annotations": annotations}
    api.put({"kind": "Secret", "metadata": metadata, "data": data})
    declared = secretpb.SecretDeclaration(name=NAME, kind=secretpb.SECRET_KIND_RANDOM_BASE64)
    store = store_of(api)
    if refused:
        with pytest.raises(Halt, match="does not belong"):
            await store._read(declared)
        with pytest.raises(Halt, match="does not belong"):
            await store._store(declared, [secretpb.Secret(name=NAME, key="key", value=b"ours")])
    else:
        assert [one.value for one in await store._read(declared)] == [b"value"], reason


async def test_a_new_secret_carries_its_declared_name() -> None:
    """What is made is marked, so that it can be checked ever after."""
    api = MemoryApi()
    declared = secretpb.SecretDeclaration(name=NAME, kind=secretpb.SECRET_KIND_RANDOM_BASE64)
    await store_of(api)._store(declared, [secretpb.Secret(name=NAME, key="key", value=b"ours")])
    made = api.find("Secret", f"{CLUSTER}-slipway.dev.client") or {}
    assert made["metadata"]["annotations"] == {NAME_ANNOTATION: NAME}


@pytest.mark.parametrize(
    ("role", "made"),
    [(clusterpb.ROLE_INIT, True), (clusterpb.ROLE_CONTROL_PLANE, False), (clusterpb.ROLE_WORKER, False)],
)
async def test_the_key_of_the_encryption_is_made_beside_any_control_plane(
    role: clusterpb.Role.ValueType, made: bool
) -> None:
    """The writer of a cluster's authorities knows nothing of it; only the first machine begins a cluster with it."""
    api = MemoryApi()
    reference = {"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane", "name": "kcp"}
    cluster = ClusterObject(api.put(cluster_object(controlPlaneRef=reference)))
    store = replace(store_of(api), cluster=cluster, role=role)
    authority = secretpb.SecretDeclaration(
        name=CLUSTER_CA, kind=secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY, full_roles=["ROLE_INIT"]
    )
    key = ClusterKey(CLUSTER, "default")
    given = await store.give(key, [authority, encryption_key()], KeySettings())
    assert {secret.name for secret in given.secrets} == ({ENCRYPTION_KEY} if made else set())


async def test_whoever_was_quicker_has_made_the_certificate_that_counts() -> None:
    """What another process wrote between our look and our write is not written over: it is what we give."""
    api = MemoryApi()
    store = store_of(api)
    name = f"{CLUSTER}-slipway.dev.client"

    def put(value: bytes) -> None:
        data = {"tls.crt": base64.b64encode(value).decode()}
        api.put(
            {"kind": "Secret", "metadata": {"name": name, "uid": "u", "labels": {CLUSTER_LABEL: CLUSTER}}, "data": data}
        )

    def quicker(call: Call) -> None:
        if call[0] == "merge":
            put(authority_pem())

    put(b"expired")
    api.before = quicker
    declared = secretpb.SecretDeclaration(name=NAME, kind=secretpb.SECRET_KIND_CLIENT_CERTIFICATE)
    ours = secretpb.Secret(name=NAME, key="tls.crt", kind=declared.kind, value=b"ours")
    (found,) = await store._store(declared, [ours])
    assert found.value == authority_pem()
    assert base64.b64decode((api.find("Secret", name) or {})["data"]["tls.crt"]) == authority_pem()
