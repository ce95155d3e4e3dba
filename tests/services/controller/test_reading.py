"""Who may read a Machine's user data by gRPC, and what they read."""

from typing import Any

import pytest

from slipway.contract.errors import MachineNotFound, PermissionDenied, Unauthenticated, UserDataNotReady
from slipway.controller.machine_data import MachineData
from slipway.controller.reading import Readers
from slipway.kubernetes_api.failures import Unreachable
from slipway.kubernetes_api.resources import GROUP, Json, Resource
from slipway.rpc.identity import Identity
from tests.services.controller.scene import CLUSTER, Scene
from tests.services.kubernetes_api.memory_api import MemoryApi

KNOWN = Identity(("spiffe://slipway/infrastructure/aws",))
STRANGER = Identity(("spiffe://slipway/infrastructure/other",))

HERE = Identity(("spiffe://slipway/infrastructure/here",))
ELSEWHERE = Identity(("spiffe://slipway/infrastructure/elsewhere",))


class Reviewing(MemoryApi):
    """Answers reviews: the token "good" is user u, who may get Secret w in namespace default."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Json] = []

    async def create(self, resource: Resource, namespace: str, body: Json) -> Json:
        self.asked.append(body["spec"])
        if resource.kind == "TokenReview":
            good = body["spec"]["token"] == "good"
            audiences = [one for one in body["spec"]["audiences"] if one == "slipway"] if good else []
            return {
                "status": {"authenticated": good, "user": {"username": "u", "groups": ["g"]}, "audiences": audiences}
            }
        wanted = body["spec"]["resourceAttributes"]
        allowed = (wanted["namespace"], wanted["name"], wanted["verb"]) == ("default", "w", "get")
        return {"status": {"allowed": allowed and body["spec"]["user"] == "u"}}


@pytest.mark.parametrize(
    ("identity", "authorization", "secret", "refused", "reason"),
    [
        (KNOWN, "", "w", None, "it is on the operator's list"),
        (None, "Bearer good", "w", None, "RBAC lets the token's user get the Secret"),
        (STRANGER, "bearer good", "w", None, "the scheme has no case"),
        (STRANGER, "", "w", Unauthenticated, "neither list nor token"),
        (None, "Basic good", "w", Unauthenticated, "another scheme"),
        (None, "Bearer bad", "w", Unauthenticated, "the cluster does not know the token"),
        (None, "Bearer good", "x", PermissionDenied, "another Secret"),
        (HERE, "", "w", None, "it is on the list for this namespace"),
        (ELSEWHERE, "", "w", Unauthenticated, "it is on the list for another namespace"),
        (ELSEWHERE, "Bearer good", "w", None, "and may show a token as everybody may"),
    ],
)
async def test_who_may_read(
    identity: Identity | None, authorization: str, secret: str, refused: type[Exception] | None, reason: str
) -> None:
    """The list, or what the management cluster's own RBAC says of this very Secret."""
    api = Reviewing()
    readers = Readers(api, [*KNOWN.spiffe_ids, f"{HERE.spiffe_ids[0]}=default", f"{ELSEWHERE.spiffe_ids[0]}=other"])
    checked: Any = readers.check(identity, authorization, namespace="default", secret=secret)
    if refused is None:
        await checked
    else:
        with pytest.raises(refused):
            await checked
    assert not (identity is KNOWN and api.asked), reason


async def test_a_token_for_another_audience_is_refused() -> None:
    """What was issued for the API server could be shown to it by whoever sees it here."""
    reading = Readers(Reviewing(), (), audiences=["another"])
    with pytest.raises(Unauthenticated, match="for the audience another"):
        await reading.check(None, "Bearer good", namespace="default", secret="w")


async def test_a_cluster_that_does_not_answer_opens_nothing() -> None:
    """No answer is no permission."""

    class Away(MemoryApi):
        async def create(self, resource: Resource, namespace: str, body: Json) -> Json:
            raise Unreachable("POST", resource.kind)

    with pytest.raises(PermissionDenied):
        await Readers(Away(), ()).check(None, "Bearer good", namespace="default", secret="w")


async def test_the_stored_bytes_are_given() -> None:
    """Not a new render: the Secret as it is, with who made it."""
    scene = Scene()
    scene.cluster()
    scene.workload_ready()
    scene.plane()
    scene.secret(f"{CLUSTER}-slipway-token-seed", {"value": b"s" * 32})
    scene.worker()
    data = MachineData(
        scene.api, machines=scene.api.lookup("Machine"), configs={GROUP: scene.api.lookup("SlipwayConfig")}
    )
    with pytest.raises(MachineNotFound):
        data.secret_name("default", "nobody")
    assert data.secret_name("default", "w") == "w"
    scene.secret("w2", {"value": b"theirs"})
    with pytest.raises(UserDataNotReady):
        await data.user_data("default", "w")
    await scene.reconcile()
    answer = await data.user_data("default", "w")
    assert answer.user_data == scene.value()
    assert (answer.format, answer.secret_format, answer.provisioner.name) == (
        "cloud-config",
        "cloud-config",
        "cloud-init",
    )
    with pytest.raises(UserDataNotReady):
        await data.user_data("default", "w2")


async def test_why_there_is_nothing_yet_is_told() -> None:
    """The answer has the reason of the config's condition."""
    scene = Scene()
    scene.cluster(initialized=False)
    scene.worker()
    await scene.reconcile()
    data = MachineData(
        scene.api, machines=scene.api.lookup("Machine"), configs={GROUP: scene.api.lookup("SlipwayConfig")}
    )
    with pytest.raises(UserDataNotReady) as refused:
        await data.user_data("default", "w")
    assert "WaitingForControlPlane" in refused.value.message
