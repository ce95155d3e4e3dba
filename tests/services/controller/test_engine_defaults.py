"""The bootstrap engine of a machine that names none: that of its cluster's control plane, and never a guess."""

import base64

import pytest

from slipway.bootstrapper.engines.k0s.secrets import JOIN_TOKENS
from slipway.controller.data_secret import Record
from slipway.kubernetes_api.resources import Json
from tests.services.controller.scene import CLUSTER, Scene, config_object, machine_object

PLAIN: Json = {"provisioner": {"name": "cloud-init"}}
CONTROL_PLANES = "controlplane.cluster.x-k8s.io"


def naming(engine: str) -> Json:
    """Give a spec that names its engine."""
    return {**PLAIN, "kubernetes": {"engine": engine}}


def engine_of(scene: Scene, name: str = "w") -> str:
    """Give the engine that a data Secret names."""
    secret = scene.api.find("Secret", name)
    assert secret is not None, scene.condition(name)
    record = Record.of_secret(secret)
    assert record is not None
    return record.engine


def foreign(scene: Scene, kind: str, name: str = "foreign", *, data: str = "data") -> None:
    """Put in a control-plane Machine of another bootstrap provider."""
    reference = {"apiGroup": "bootstrap.cluster.x-k8s.io", "kind": kind, "name": name}
    bootstrap = {"configRef": reference, **({"dataSecretName": data} if data else {})}
    scene.api.put(machine_object(name, control_plane=True, bootstrap=bootstrap))


@pytest.fixture
def bare(scene: Scene) -> Scene:
    """The same without any control-plane Machine."""
    scene.api.remove("Machine", "plane")
    scene.api.remove("Secret", "plane")
    return scene


@pytest.mark.parametrize("control_plane", [False, True], ids=["worker", "control plane"])
async def test_a_machine_that_joins_machines_of_k0s_has_their_engine(scene: Scene, control_plane: bool) -> None:
    """Its spec names none; its user data and its token are k0s'."""
    scene.plane(engine="k0s")
    scene.worker(spec=PLAIN, control_plane=control_plane)
    await scene.reconcile()
    assert engine_of(scene) == "k0s"
    (token,) = scene.workload.all("Secret")
    values = {key: base64.b64decode(value).decode() for key, value in token["data"].items()}
    wanted = JOIN_TOKENS.control_plane if control_plane else JOIN_TOKENS.worker
    assert {key: values[key] for key in wanted} == wanted


async def test_the_engine_is_that_with_which_the_control_plane_was_made(bare: Scene) -> None:
    """It is what the data Secret names: a config that was changed afterwards changes nothing."""
    bare.cluster(initialized=False)
    bare.api.remove("Secret", f"{CLUSTER}-ca")
    bare.worker("first", spec=naming("k0s"), control_plane=True)
    await bare.reconcile("first")
    assert engine_of(bare, "first") == "k0s"
    config = bare.api.find("SlipwayConfig", "first") or {}
    bare.api.put({**config, "spec": naming("kubeadm")})
    bare.cluster()
    bare.worker(spec=PLAIN)
    await bare.reconcile()
    assert engine_of(bare) == "k0s"


@pytest.mark.parametrize(("plane", "other"), [("kubeadm", "k0s"), ("k0s", "kubeadm")])
async def test_a_machine_of_another_engine_is_refused_by_field(scene: Scene, plane: str, other: str) -> None:
    """Whichever of the two the control plane has; no token is made for what could not join."""
    scene.plane(engine=plane)
    scene.worker(spec=naming(other))
    await scene.reconcile()
    status, _, message = scene.condition()
    assert status == "False"
    assert f"spec.kubernetes.engine: is {other}, and the cluster has a control plane of {plane}" in message
    assert scene.api.find("Secret", "w") is None
    assert scene.workload.all("Secret") == []


async def test_without_a_control_plane_machine_the_field_is_required(bare: Scene) -> None:
    """The control plane is not Cluster API's; a machine that names its engine joins it."""
    bare.worker(spec=PLAIN)
    await bare.reconcile()
    assert bare.condition()[:2] == ("False", "BootstrapEngineUnknown")
    assert bare.condition()[2].startswith("spec.kubernetes.engine: is required")
    bare.worker("named", spec=naming("k0s"))
    await bare.reconcile("named")
    assert engine_of(bare, "named") == "k0s"


@pytest.mark.parametrize(
    ("others", "wanted", "reason"),
    [
        ({"KubeadmConfig": "data"}, "kubeadm", "the kind says it"),
        ({"K0sControllerConfig": "data"}, "k0s", "another provider's machine is of the same engine"),
        ({"K0sControllerConfig": ""}, "", "it has no user data yet, and may never have any"),
        ({"XConfig": "data"}, "", "a kind that is not known"),
        ({"KubeadmConfig": "data", "K0sControllerConfig": "data"}, "", "they contradict each other"),
        ({"KubeadmConfig": "data", "XConfig": "data"}, "kubeadm", "all of a cluster are of the same engine"),
    ],
)
async def test_machines_of_other_providers_count(bare: Scene, others: dict[str, str], wanted: str, reason: str) -> None:
    """By the kind of their config, as soon as they have user data."""
    for kind, data in others.items():
        foreign(bare, kind, kind.lower(), data=data)
    bare.worker(spec=PLAIN)
    await bare.reconcile()
    if wanted:
        assert engine_of(bare) == wanted, reason
    else:
        assert bare.condition()[1] == "BootstrapEngineUnknown", reason


async def test_a_system_that_bootstraps_itself_needs_no_engine(bare: Scene) -> None:
    """Its machines join without the field, and others are refused where its control plane is."""
    bare.cluster(initialized=False)
    bare.api.remove("Secret", f"{CLUSTER}-ca")
    talos = {"provisioner": {"name": "talos"}}
    bare.worker("first", spec=talos, control_plane=True)
    await bare.reconcile("first")
    assert engine_of(bare, "first") == "talos"
    bare.cluster()
    bare.workload_ready()
    bare.worker(spec=PLAIN)
    await bare.reconcile()
    assert "talos" not in bare.condition()[1]
    assert bare.api.find("Secret", "w") is None


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [("KubeadmControlPlane", "kubeadm"), ("K0sControlPlane", "k0s")],
)
async def test_a_control_plane_kind_decides(scene: Scene, kind: str, wanted: str) -> None:
    """Whatever its Machines say."""
    scene.plane(engine="k0s")
    scene.cluster(controlPlaneRef={"apiGroup": CONTROL_PLANES, "kind": kind, "name": "x"})
    scene.worker(spec=PLAIN)
    await scene.reconcile()
    assert engine_of(scene) == wanted


async def test_a_control_plane_of_an_unknown_kind_says_nothing(scene: Scene) -> None:
    """An unknown kind is never guessed: the spec has to name the engine."""
    scene.plane(engine="k0s")
    scene.cluster(controlPlaneRef={"apiGroup": CONTROL_PLANES, "kind": "XControlPlane", "name": "x"})
    scene.worker(spec=PLAIN)
    await scene.reconcile()
    status, reason, message = scene.condition()[:3]
    assert (status, reason) == ("False", "BootstrapEngineUnknown")
    assert "a XControlPlane" in message
    scene.worker("named", spec={**PLAIN, "kubernetes": {"engine": "kubeadm"}})
    await scene.reconcile("named")
    assert engine_of(scene, "named") == "kubeadm"


async def test_what_other_control_planes_make_is_refused(scene: Scene) -> None:
    """No engine of Slipway joins a cluster of k3s."""
    scene.cluster(controlPlaneRef={"apiGroup": CONTROL_PLANES, "kind": "KThreesControlPlane", "name": "x"})
    scene.worker(spec=PLAIN)
    await scene.reconcile()
    assert scene.condition()[0] == "False"
    assert "control plane" in scene.condition()[2]
    assert scene.api.find("Secret", "w") is None


async def test_the_token_of_a_machine_keeps_its_form(scene: Scene) -> None:
    """Upkeep takes the engine from the data Secret: control planes may be gone, and specs changed."""
    scene.plane(engine="k0s")
    scene.worker(spec=PLAIN)
    await scene.reconcile()
    (before,) = scene.workload.all("Secret")
    scene.api.remove("Machine", "plane")
    owner = scene.api.find("Machine", "w")
    config = scene.api.find("SlipwayConfig", "w") or {}
    changed = config_object("w", spec=naming("kubeadm"), owner=owner, uid=config["metadata"]["uid"])
    scene.api.put({**changed, "status": config["status"]})
    scene.later(minutes=10)
    await scene.reconcile()
    (after,) = scene.workload.all("Secret")
    assert after["data"] == {**before["data"], "expiration": after["data"]["expiration"]}
    assert after["data"]["expiration"] != before["data"]["expiration"]
