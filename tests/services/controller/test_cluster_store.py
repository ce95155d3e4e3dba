"""An expired certificate of a cluster, made anew by two controllers at once."""

import base64

from services.controller.cluster_store import ClusterStore
from services.controller.facts import ClusterObject
from services.controller.secret_reader import SecretReader
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.services.controller.memory_api import NOW, Call, MemoryApi
from tests.services.controller.scene import CLUSTER, authority_pem, cluster_object

NAME = "slipway.dev/client"


async def test_whoever_was_quicker_has_made_the_certificate_that_counts() -> None:
    """What another process wrote between our look and our write is not written over: it is what we give."""
    api = MemoryApi()
    cluster = ClusterObject(api.put(cluster_object()))
    store = ClusterStore(
        objects=api,
        reader=SecretReader(api, api.lookup("Secret")),
        clock=lambda: NOW,
        cluster=cluster,
        role=clusterpb.ROLE_INIT,
        token="",
    )
    name = f"{CLUSTER}-slipway.dev.client"

    def put(value: bytes) -> None:
        data = {"tls.crt": base64.b64encode(value).decode()}
        api.put({"kind": "Secret", "metadata": {"name": name, "uid": "u"}, "data": data})

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
