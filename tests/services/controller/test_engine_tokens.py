"""Tokens of joining machines: what each is in the workload cluster, and who makes it, is declared by its engine."""

import base64
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from slipway.bootstrapper.engines import table
from slipway.bootstrapper.engines.k0s.secrets import JOIN_TOKENS as K0S
from slipway.bootstrapper.engines.kubeadm.join_tokens import JOIN_TOKENS as KUBEADM
from slipway.controller.data_secret import Record
from tests.services.controller import skiff
from tests.services.controller.scene import CLUSTER, Scene

NAMES = {"token-id", "token-secret", "description", "expiration"}
K0S_SPEC = {"provisioner": {"name": "cloud-init"}, "kubernetes": {"engine": "k0s"}}


def token(scene: Scene) -> dict[str, str]:
    """Give what the only token of the workload cluster holds."""
    (secret,) = scene.workload.all("Secret")
    assert secret["type"] == "bootstrap.kubernetes.io/token"
    return {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}


def values(scene: Scene) -> dict[str, str]:
    """Give what the engine wants in it."""
    return {key: value for key, value in token(scene).items() if key not in NAMES}


@pytest.mark.parametrize(
    ("spec", "control_plane", "wanted"),
    [
        ({"provisioner": {"name": "cloud-init"}}, False, KUBEADM.worker),
        (K0S_SPEC, False, K0S.worker),
        (K0S_SPEC, True, K0S.control_plane),
        ({**K0S_SPEC, "kubernetes": {}, "join": {"kubernetes": {"engine": "k0s"}}}, False, K0S.worker),
    ],
    ids=["kubeadm", "k0s worker", "k0s control plane", "k0s by the override of who joins"],
)
async def test_a_joining_machine_gets_a_token_of_its_engine(
    scene: Scene, spec: dict[str, Any], control_plane: bool, wanted: dict[str, str]
) -> None:
    """The one in its user data is the one in the cluster."""
    scene.plane(engine=spec.get("join", spec).get("kubernetes", {}).get("engine", "kubeadm"))
    scene.worker(spec=spec, control_plane=control_plane)
    await scene.reconcile()
    assert values(scene) == wanted
    made = token(scene)
    text = scene.value().decode()
    assert f"{made['token-id']}.{made['token-secret']}" in text


async def test_a_token_is_kept_in_the_form_of_its_engine(scene: Scene) -> None:
    """Upkeep puts right what was changed, from the config alone."""
    scene.plane(engine="k0s")
    scene.worker(spec=K0S_SPEC)
    await scene.reconcile()
    (secret,) = scene.workload.all("Secret")
    spoilt = {**secret["data"], "usage-bootstrap-api-auth": base64.b64encode(b"false").decode()}
    scene.workload.put({**secret, "data": spoilt})
    await scene.reconcile()
    assert values(scene) == K0S.worker


async def test_the_key_of_the_authority_is_on_no_joining_machine_of_k0s(scene: Scene) -> None:
    """A control plane of k0s fetches it by its token."""
    scene.secret(f"{CLUSTER}-ca", {"tls.crt": _authority(scene), "tls.key": b"the-key-itself"})
    scene.plane(engine="k0s")
    scene.worker(spec=K0S_SPEC, control_plane=True)
    await scene.reconcile()
    assert "controller-bootstrap" in scene.value().decode()
    assert "the-key-itself" not in scene.value().decode()


def _authority(scene: Scene) -> bytes:
    secret = scene.api.find("Secret", f"{CLUSTER}-ca") or {}
    return base64.b64decode(secret["data"]["tls.crt"])


@pytest.fixture
def skiff_scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A cluster of an engine that another package adds, whose mechanism is not that of bootstrap tokens."""
    entry = EntryPoint(skiff.NAME, f"{skiff.__name__}:SkiffEngine", table.GROUP)
    monkeypatch.setattr(table, "entry_points", lambda **_: [entry])
    scene = Scene()
    scene.cluster()
    scene.workload_ready()
    scene.plane(engine=skiff.NAME)
    return scene


def _skiff_spec(**more: Any) -> dict[str, Any]:
    return {"provisioner": {"name": "cloud-init"}, "kubernetes": {"engine": skiff.NAME}, **more}


def _put_server_tokens(scene: Scene, **tokens: str) -> None:
    data = {key: base64.b64encode(value.encode()).decode() for key, value in tokens.items()}
    metadata = {"name": skiff.PLACE.name, "namespace": skiff.PLACE.namespace}
    scene.workload.put({"kind": "Secret", "metadata": metadata, "data": data})


@pytest.mark.parametrize(("control_plane", "wanted"), [(False, "K10abc::agent:1"), (True, "K10abc::server:2")])
async def test_a_token_that_the_cluster_makes_is_read_there(
    skiff_scene: Scene, control_plane: bool, wanted: str
) -> None:
    """By the machine's role, before it is rendered; the workload cluster is never written, nor is the token kept."""
    _put_server_tokens(skiff_scene, agent="K10abc::agent:1", server="K10abc::server:2")
    skiff_scene.worker(spec=_skiff_spec(), control_plane=control_plane)
    after = await skiff_scene.reconcile()
    assert skiff_scene.condition()[0] == "True", skiff_scene.condition()
    assert wanted in skiff_scene.value().decode()
    assert skiff_scene.workload.writes == []
    record = Record.of_secret(skiff_scene.api.find("Secret", "w") or {})
    assert record is not None
    assert (record.engine, record.token, after.after) == (skiff.NAME, False, None)
    skiff_scene.later(hours=30)
    await skiff_scene.reconcile()
    assert (skiff_scene.condition()[0], skiff_scene.workload.writes) == ("True", [])


@pytest.mark.parametrize("tokens", [None, {}, {"server": "K10abc::server:2"}, {"agent": "garbage"}])
async def test_a_machine_waits_for_the_token_that_its_cluster_makes(
    skiff_scene: Scene, tokens: dict[str, str] | None
) -> None:
    """With the Secret's name, and without its values; it goes on when the token is there."""
    if tokens is not None:
        _put_server_tokens(skiff_scene, **tokens)
    skiff_scene.worker(spec=_skiff_spec())
    after = await skiff_scene.reconcile()
    status, reason, message = skiff_scene.condition()
    assert (status, reason, after.failed) == ("False", "WaitingForJoinToken", True)
    assert f"{skiff.PLACE.namespace}/{skiff.PLACE.name}" in message
    assert "garbage" not in message
    assert skiff_scene.api.find("Secret", "w") is None
    _put_server_tokens(skiff_scene, agent="K10abc::agent:1")
    await skiff_scene.reconcile()
    assert "K10abc::agent:1" in skiff_scene.value().decode()


async def test_nothing_is_held_in_memory_while_a_cluster_is_asked(skiff_scene: Scene) -> None:
    """It may be slow: what the config refers to is read when the token is there."""
    content = {"configMapRef": {"name": "m", "key": "k"}}
    skiff_scene.worker(spec=_skiff_spec(os={"files": [{"path": "/srv/m", "content": content}]}))
    await skiff_scene.reconcile()
    assert skiff_scene.condition()[1] == "WaitingForJoinToken"
    _put_server_tokens(skiff_scene, agent="K10abc::agent:1")
    await skiff_scene.reconcile()
    assert skiff_scene.condition()[1] == "WaitingForSecret"


async def test_the_first_machine_reads_no_token(skiff_scene: Scene) -> None:
    """Its cluster cannot be asked yet: it gets the token that is made with the cluster's other secrets."""
    skiff_scene.api.remove("Secret", "plane")
    skiff_scene.api.remove("Machine", "plane")
    skiff_scene.api.remove("Secret", f"{CLUSTER}-ca")
    skiff_scene.cluster(initialized=False)
    skiff_scene.worker(spec=_skiff_spec(), control_plane=True)
    await skiff_scene.reconcile()
    assert skiff_scene.condition()[0] == "True", skiff_scene.condition()
    assert skiff_scene.workload.calls == []
