"""What many machines of a cluster ask for at once is asked for once, also where it cannot be had."""

import asyncio
import base64

import pytest

from slipway.controller.cluster_object import CLUSTER_LABEL
from slipway.controller.halt import Halt
from slipway.controller.secret_reader import SecretReader
from slipway.kubernetes_api.failures import Unreachable
from slipway.kubernetes_api.resources import Json, Resource
from tests.services.kubernetes_api.memory_api import MemoryApi

_MANY = 32
OTHER = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "other", "uid": "u"}
PLANE = {"apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "K0sControlPlane", "name": "p", "uid": "u"}


async def test_who_waited_for_a_call_that_failed_does_not_try_again_in_turn() -> None:
    """A Secret whose read hangs until its deadline would hold up all workers for as many deadlines."""
    api, asked, hurt = MemoryApi(), list[str](), True

    class Slow:
        async def get(self, kind: Resource, namespace: str, name: str) -> Json:
            asked.append(name)
            await asyncio.sleep(0)
            if hurt:
                raise Unreachable("GET", kind.kind, name)
            return {"metadata": {"namespace": namespace, "name": name, "uid": "u", "resourceVersion": "1"}, "data": {}}

    reader = SecretReader(Slow(), api.lookup("Secret"), api.lookup("Cluster"))  # type: ignore[arg-type]
    found = await asyncio.gather(*(reader.shared("n", "ca") for _ in range(_MANY)), return_exceptions=True)
    assert [type(one) for one in found] == [Unreachable] * _MANY
    assert asked == ["ca"]
    with pytest.raises(Unreachable):
        await reader.shared("n", "ca")
    assert len(asked) == 2, "who comes later tries again"
    hurt = False
    assert await asyncio.gather(*(reader.shared("n", "ca") for _ in range(_MANY))) == [{}] * _MANY
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("name", "kind", "refused", "reason"),
    [
        ("own", "Opaque", False, "a user's own"),
        ("c-azure-json", "Opaque", False, "an infrastructure provider's, for machines"),
        ("c-ca", "cluster.x-k8s.io/secret", True, "an authority that Cluster API made"),
        ("c-ca", "Opaque", True, "one that a person brought"),
        ("c-kubeconfig", "cluster.x-k8s.io/secret", True, "an administrator's kubeconfig"),
        ("c-slipway-token-seed", "cluster.x-k8s.io/secret", True, "the seed of all tokens"),
        ("other-ca", "cluster.x-k8s.io/secret", True, "another cluster's"),
        ("w-0", "cluster.x-k8s.io/secret", True, "another machine's user data"),
        ("bootstrap-token-abcdef", "bootstrap.kubernetes.io/token", True, "a token"),
        ("default-token", "kubernetes.io/service-account-token", True, "a service account's token"),
        ("c-talos", "Opaque", True, "the keys of a cluster of Talos"),
    ],
)
async def test_a_clusters_secret_is_no_users_content(name: str, kind: str, refused: bool, reason: str) -> None:
    """Whoever may write a config does not read a cluster's keys by it, on any role's machine."""
    api = MemoryApi()
    api.put({"kind": "Secret", "type": kind, "metadata": {"name": name}, "data": {"k": "dg=="}})
    reader = SecretReader(api, api.lookup("Secret"), api.lookup("Cluster"))
    if refused:
        with pytest.raises(Halt, match="belongs to a cluster"):
            await reader.secret("default", name, cluster="c")
    else:
        assert await reader.secret("default", name, cluster="c") == {"k": b"v"}, reason


@pytest.mark.parametrize(
    ("name", "metadata", "refused"),
    [
        ("other-ca", {"labels": {CLUSTER_LABEL: "other"}}, True),
        ("other-kubeconfig", {"ownerReferences": [OTHER]}, True),
        ("other-ca", {}, False),
        ("neighbour-ca", {}, True),
        ("neighbour-settings", {}, False),
        ("authority", {"ownerReferences": [PLANE]}, True),
        ("settings", {"labels": {CLUSTER_LABEL: "other"}, "ownerReferences": [OTHER]}, False),
    ],
    ids=[
        "labelled",
        "owned",
        "the name of no cluster that is there",
        "a name alone, of a cluster that is there",
        "a user's for a cluster",
        "adopted by a control plane",
        "a user's that moves with the cluster",
    ],
)
async def test_a_secret_of_another_cluster_is_no_users_content(name: str, metadata: Json, refused: bool) -> None:
    """People bring authorities of their own, of any type: that of a neighbour in the namespace is its, too."""
    api = MemoryApi()
    api.put({"kind": "Cluster", "metadata": {"name": "neighbour"}, "spec": {}})
    api.put({"kind": "Secret", "type": "Opaque", "metadata": {"name": name, **metadata}, "data": {"k": "dg=="}})
    reader = SecretReader(api, api.lookup("Secret"), api.lookup("Cluster"))
    if refused:
        with pytest.raises(Halt, match="belongs to a cluster"):
            await reader.secret("default", name, cluster="c")
    else:
        assert await reader.secret("default", name, cluster="c") == {"k": b"v"}


ASO = {
    "apiVersion": "containerservice.azure.com/v1api20240901",
    "kind": "ManagedCluster",
    "name": "neighbour",
    "uid": "u",
}
KUBECONFIG = b"apiVersion: v1\nkind: Config\ncurrent-context: a\n"


@pytest.mark.parametrize(
    ("owners", "content", "refused"),
    [
        ([ASO], KUBECONFIG, True),
        ([OTHER, ASO], b'{"kind": "Config", "current-context": "a"}', True),
        ([OTHER], KUBECONFIG, False),
        ([], KUBECONFIG, False),
        ([ASO], b"# current-context is no key here\n", False),
    ],
    ids=[
        "of a managed cluster",
        "in JSON, and moved",
        "a user's that moves with the cluster",
        "a user's",
        "no kubeconfig",
    ],
)
async def test_a_controllers_kubeconfig_is_no_users_content(owners: list[Json], content: bytes, refused: bool) -> None:
    """Managed and hosted control planes give theirs names of their own, and no type."""
    api = MemoryApi()
    metadata = {"name": "neighbour-aso", "ownerReferences": owners}
    data = {"value": base64.b64encode(content).decode()}
    api.put({"kind": "Secret", "type": "Opaque", "metadata": metadata, "data": data})
    reader = SecretReader(api, api.lookup("Secret"), api.lookup("Cluster"))
    if refused:
        with pytest.raises(Halt, match="belongs to a cluster"):
            await reader.secret("default", "neighbour-aso", cluster="c")
    else:
        assert await reader.secret("default", "neighbour-aso", cluster="c") == {"value": content}
