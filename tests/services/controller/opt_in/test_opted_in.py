"""One opted-in KubeadmConfig from its facts to its Secret: the writes, and what the kubeadm provider is left with."""

import base64
from collections.abc import Callable

import pytest
import yaml

from services.contract.errors import MachineNotFound
from services.controller import marks
from services.controller.kubernetes.failures import ApiFailure
from services.controller.machine_data import MachineData
from services.controller.resources import KUBEADM_CONFIGS, Json
from tests.services.controller.memory_api import WRITES, Call
from tests.services.controller.opt_in.opted_in import OptedIn, kubeadm_config, paused_condition
from tests.services.controller.scene import CLUSTER, Scene

UNDER_KUBEADM = {
    "controlPlaneRef": {"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane", "name": "kcp"}
}


class Killed(BaseException):
    """The process was killed: nothing of ours may catch it."""


def _ready(scene: Scene) -> None:
    scene.workload_ready()
    scene.secret(f"{CLUSTER}-slipway-token-seed", {"value": b"s" * 32})


@pytest.fixture
def scene() -> OptedIn:
    scene = OptedIn()
    scene.cluster()
    _ready(scene)
    return scene


async def test_a_worker_costs_three_writes(scene: OptedIn) -> None:
    """Secret, status, and the end of the pause, in this order: core, which is woken by the end, finds all of it."""
    scene.config()
    await scene.reconcile()
    assert [(verb, kind) for verb, kind, _, _ in scene.api.writes] == [
        ("create", "Secret"),
        ("merge", "KubeadmConfig"),
        ("merge", "KubeadmConfig"),
    ]
    found = scene.found()
    assert marks.PAUSED not in found["metadata"]["annotations"]
    assert found["status"]["dataSecretName"] == "w"
    assert found["status"]["initialization"] == {"dataSecretCreated": True}
    assert [verb for verb, *_ in scene.workload.writes] == ["create"]


async def test_the_status_is_as_the_kubeadm_provider_writes_it(scene: OptedIn) -> None:
    """Types and reasons are that provider's, and its own condition is left as it was."""
    scene.config()
    await scene.reconcile()
    conditions = {one["type"]: (one["status"], one["reason"]) for one in scene.status()["conditions"]}
    assert conditions == {
        "Ready": ("True", "Ready"),
        "DataSecretAvailable": ("True", "Available"),
        "CertificatesAvailable": ("True", "Available"),
        "Paused": ("True", "Paused"),
    }
    assert paused_condition() in scene.status()["conditions"]
    assert set(scene.status()) == {"conditions", "dataSecretName", "initialization", "observedGeneration"}


async def test_the_secret_belongs_to_the_config_as_the_kubeadm_provider_has_it(scene: OptedIn) -> None:
    """Exactly its reference, or that provider would want to repair it; and the join is of kubeadm's own layout."""
    config = scene.config()
    await scene.reconcile()
    secret = scene.api.find("Secret", "w") or {}
    assert secret["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2",
            "kind": "KubeadmConfig",
            "name": "w",
            "uid": config["metadata"]["uid"],
            "controller": True,
        }
    ]
    assert scene.value(key="format") == b"cloud-config"
    assert b"kubeadm join --config" in scene.value()
    assert b"uninitialized" in scene.value()


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("point", range(4))
async def test_killed_at_any_write_the_next_process_comes_to_the_same(scene: OptedIn, point: int, when: str) -> None:
    """Before and after each write of both clusters: one Secret with the same content, the status, no pause."""
    undisturbed = OptedIn()
    undisturbed.cluster()
    _ready(undisturbed)
    for each in (undisturbed, scene):
        each.api.put(kubeadm_config("w", owner=each.machine(), uid="config"))
    await undisturbed.reconcile()
    count = 0

    def kill(call: Call) -> None:
        nonlocal count
        if call[0] in WRITES:
            count += 1
            if count == point + 1:
                raise Killed

    for api in (scene.api, scene.workload):
        setattr(api, when, kill)
    with pytest.raises(Killed):
        await scene.reconcile()
    for api in (scene.api, scene.workload):
        setattr(api, when, lambda _: None)
    scene.restart()
    await scene.reconcile()
    await scene.reconcile()
    assert scene.value() == undisturbed.value()
    assert len(scene.workload.all("Secret")) == 1
    assert marks.PAUSED not in scene.found()["metadata"]["annotations"]
    assert scene.status()["dataSecretName"] == "w"


async def test_a_status_that_was_changed_meanwhile_is_read_again(scene: OptedIn) -> None:
    """The kubeadm provider writes its pause while we render: its condition stays, and ours stand beside it."""
    scene.config()
    facts = scene.facts()
    del facts.config["status"]
    await scene.reconciler.reconcile(facts, waited=lambda _: 0.0)
    scene.restart()
    stale = scene.facts("w")
    assert stale.reported

    other = OptedIn()
    other.cluster()
    _ready(other)
    other.config()
    stale = other.facts()
    other.api.put({**other.found(), "status": {"conditions": [{**paused_condition(), "message": "newer"}]}})
    await other.reconciler.reconcile(stale, waited=lambda _: 0.0)
    messages = {one["type"]: one["message"] for one in other.status()["conditions"]}
    assert messages["Paused"] == "newer"
    assert other.status()["dataSecretName"] == "w"


async def test_what_is_waited_for_is_told_with_the_provider_s_reason(scene: OptedIn) -> None:
    """A wait has the reason that the kubeadm provider has for all of them; ours stands in the message."""
    scene.cluster(initialized=False)
    scene.config()
    await scene.reconcile()
    assert scene.condition(type_="DataSecretAvailable")[:2] == ("False", "NotAvailable")
    assert "WaitingForControlPlane" in scene.condition(type_="DataSecretAvailable")[2]
    status, reason, message = scene.condition()
    assert (status, reason) == ("False", "NotReady")
    assert "* DataSecretAvailable: WaitingForControlPlane" in message
    assert scene.facts().held
    assert scene.api.find("Secret", "w") is None


@pytest.mark.parametrize("provisioner", ["talos", "windows"])
async def test_a_control_plane_under_kubeadm_needs_kubeadm(provisioner: str) -> None:
    """KubeadmControlPlane edits kubeadm's ConfigMap: a machine without it is refused, by name, and an event tells."""
    scene = OptedIn()
    scene.cluster(initialized=False, **UNDER_KUBEADM)
    _ready(scene)
    owner = scene.machine("c", control_plane=True)
    scene.config("c", owner=owner, annotations={marks.PROVISIONER: provisioner})
    await scene.reconcile("c")
    status, reason, message = scene.condition("c", "DataSecretAvailable")
    assert (status, reason) == ("False", "ControlPlaneNeedsKubeadm")
    assert provisioner in message
    assert [one["reason"] for one in scene.api.all("Event")] == ["ControlPlaneNeedsKubeadm"]
    assert scene.api.find("ConfigMap", f"{CLUSTER}-lock") is None, "another machine may begin"


@pytest.mark.parametrize("annotations", [{}, {marks.PROVISIONER: "ignition"}], ids=["cloud-init", "ignition"])
async def test_the_first_machine_takes_the_lock_of_the_kubeadm_provider(annotations: Json) -> None:
    """The lock is the same ConfigMap, taken before the Secret; the machine begins the cluster with kubeadm init."""
    scene = OptedIn()
    scene.cluster(initialized=False)
    scene.config("c", owner=scene.machine("c", control_plane=True), annotations=annotations)
    await scene.reconcile("c")
    assert ("create", "ConfigMap", "default", f"{CLUSTER}-lock") in scene.api.writes
    assert scene.value("c", "format") == (b"ignition" if annotations else b"cloud-config")
    assert not scene.facts("c").held


async def test_a_preset_token_is_refused(scene: OptedIn) -> None:
    """Where webhook and policy were got round, the controller refuses, and says which field."""
    spec = {"joinConfiguration": {"discovery": {"bootstrapToken": {"token": "abcdef.0123456789abcdef"}}}}
    scene.config(spec=spec)
    await scene.reconcile()
    status, reason, message = scene.condition(type_="DataSecretAvailable")
    assert (status, reason) == ("False", "BootstrapTokenPreset")
    assert "discovery.bootstrapToken" in message
    assert "0123456789abcdef" not in message


async def test_secrets_of_people_are_read_and_waited_for(scene: OptedIn) -> None:
    """ContentFrom and passwdFrom are resolved, encoded content is decoded; what is missing is named."""
    spec = {
        "files": [
            {"path": "/etc/one", "contentFrom": {"secret": {"name": "mine", "key": "one"}}},
            {"path": "/etc/two", "encoding": "base64", "contentFrom": {"secret": {"name": "mine", "key": "two"}}},
        ],
        "users": [{"name": "joe", "passwdFrom": {"secret": {"name": "mine", "key": "hash"}}}],
    }
    scene.config(spec=spec)
    await scene.reconcile()
    message = scene.condition(type_="DataSecretAvailable")[2]
    assert "key hash of Secret mine, key one of Secret mine, key two of Secret mine" in message
    assert scene.depends["w"] == {("Secret", "mine")}
    scene.secret("mine", {"one": b"first", "two": base64.b64encode(b"second"), "hash": b"$6$hash"})
    await scene.reconcile()
    document = yaml.safe_load(scene.value())
    files = {one["path"]: one["content"] for one in document["write_files"]}
    assert (files["/etc/one"], files["/etc/two"]) == ("first", "second")
    assert next(one for one in document["users"] if one["name"] == "joe")["hashed_passwd"] == "$6$hash"


def _late(found: Json) -> None:
    del found["metadata"]["labels"][marks.OWNER]


def _released(found: Json) -> None:
    found["metadata"]["annotations"][marks.RELEASED] = "a person"


def _handed_over(found: Json) -> None:
    del found["metadata"]["annotations"][marks.PAUSED]


def _paused_for_us(found: Json) -> None:
    found["metadata"]["annotations"][marks.OWN_PAUSED] = ""


@pytest.mark.parametrize(
    ("change", "events"),
    [(_late, ["OptedInTooLate"]), (_released, []), (_handed_over, []), (_paused_for_us, [])],
    ids=["labelled later", "released", "without the pause", "paused by a person"],
)
async def test_what_is_not_ours_is_left_alone(
    scene: OptedIn, change: Callable[[Json], None], events: list[str]
) -> None:
    """No Secret, no status, no token; only a label that came too late is told of, by an event."""
    found = scene.config()
    change(found)
    scene.api.put(found)
    await scene.reconcile()
    assert [one["reason"] for one in scene.api.all("Event")] == events
    assert [call for call in scene.api.writes if call[1] != "Event"] == []
    assert scene.workload.writes == []


async def test_a_label_that_came_later_is_told_of_once(scene: OptedIn) -> None:
    """Whatever happens to the controller meanwhile: as long as the event is kept, its successor adds none."""
    found = scene.config()
    _late(found)
    scene.api.put(found)
    for _ in range(3):
        await scene.reconcile()
        scene.restart()
        scene.later(minutes=1)
    assert [one["reason"] for one in scene.api.all("Event")] == ["OptedInTooLate"]


async def test_what_comes_back_is_told_of_again(scene: OptedIn) -> None:
    """One process tells of a change each time that it finds one, also of a change back."""
    scene.config()
    facts = scene.facts()
    for reason in ("One", "Other", "One", "One"):
        await scene.reconciler.reporter.warn(facts, reason, "what to do")
        scene.later(seconds=1)
    assert [one["reason"] for one in scene.api.all("Event")] == ["One", "Other", "One"]


async def test_afterwards_nothing_but_the_token_is_written(scene: OptedIn) -> None:
    """The object is the kubeadm provider's to tell of: the token is kept alive, the status is not touched again."""
    scene.config()
    await scene.reconcile()
    before, count = scene.found(), len(scene.api.writes)
    scene.later(minutes=10)
    following = await scene.reconcile()
    assert following.after == pytest.approx(300)
    assert scene.found() == before
    assert len(scene.api.writes) == count
    assert [verb for verb, *_ in scene.workload.writes] == ["create", "merge"]


async def test_a_token_that_is_given_up_is_told_by_an_event(scene: OptedIn) -> None:
    """A machine that does not join in a day: the status is not ours to write, an event is."""
    scene.config()
    await scene.reconcile()
    before = scene.found()
    scene.later(hours=25)
    await scene.reconcile()
    assert [one["reason"] for one in scene.api.all("Event")] == ["TokenGivenUp"]
    assert scene.found() == before


async def test_a_pool_is_rendered_again_without_touching_its_config(scene: OptedIn) -> None:
    """Rotation of the token replaces the Secret's content; the config stays as the kubeadm provider has it."""
    scene.pool_config()
    await scene.reconcile("p")
    before, first = scene.found("p"), scene.value("p")
    owner = scene.api.find("MachinePool", "p") or {}
    scene.api.put({**owner, "status": {"nodeRefs": [{"name": "n"}]}})
    scene.later(minutes=10)
    await scene.reconcile("p")
    assert scene.value("p") != first
    assert scene.found("p") == before


async def test_a_restored_object_gets_its_status_back_without_a_render(scene: OptedIn) -> None:
    """After a move: Secret there, status gone, held by the webhook of the new cluster; two writes, the same content."""
    scene.config()
    await scene.reconcile()
    secret, found = scene.api.find("Secret", "w"), scene.found()
    found["metadata"]["annotations"][marks.PAUSED] = marks.SLIPWAY
    found["status"] = {"conditions": [paused_condition()]}
    scene.api.put(found)
    scene.restart()
    count = len(scene.api.writes)
    await scene.reconcile()
    assert scene.api.find("Secret", "w") == secret
    assert [call[1] for call in scene.api.writes[count:]] == [KUBEADM_CONFIGS.kind] * 2
    assert not scene.facts().held
    assert scene.facts().reported


async def test_an_older_worker_is_refused_unless_its_kubeadm_is_named(scene: OptedIn) -> None:
    """Kubeadm joins its own minor version only; the annotation says what a KubeadmConfig has no field for."""
    scene.cluster(**UNDER_KUBEADM)
    scene.api.discovery["/apis/controlplane.cluster.x-k8s.io"] = {"preferredVersion": {"version": "v1beta2"}}
    scene.api.discovery["/apis/controlplane.cluster.x-k8s.io/v1beta2"] = {
        "resources": [{"kind": "KubeadmControlPlane", "name": "kubeadmcontrolplanes"}]
    }
    plane = {"kind": "KubeadmControlPlane", "metadata": {"name": "kcp"}, "status": {"version": "v1.34.2"}}
    scene.api.put(plane)
    owner = scene.machine("w", version="v1.33.1")
    scene.config("w", owner=owner)
    await scene.reconcile()
    assert scene.condition(type_="DataSecretAvailable")[1] == "KubeadmVersionSkew"
    found = scene.found()
    found["metadata"]["annotations"][marks.KUBEADM_VERSION] = "v1.34.2"
    scene.api.put(found)
    await scene.reconcile()
    assert not scene.facts().held


async def test_a_failing_api_leaves_the_object_held(scene: OptedIn) -> None:
    """The status can not be written: the pause stays, since core must not be woken by half of it."""
    scene.config()

    def fail(call: Call) -> None:
        if call[0] == "merge":
            raise ApiFailure("PATCH", call[1], call[3])

    scene.api.before = fail
    following = await scene.reconcile()
    assert following.failed
    assert scene.facts().held
    assert scene.api.find("Secret", "w") is not None


async def test_user_data_can_be_asked_for_by_machine(scene: OptedIn) -> None:
    """The stored bytes of an opted-in machine are told as those of our own kind are; others' are not."""
    scene.config()
    await scene.reconcile()
    configs = {KUBEADM_CONFIGS.group: scene.api.lookup(KUBEADM_CONFIGS.kind)}
    data = MachineData(scene.api, machines=scene.api.lookup("Machine"), configs=configs)
    assert data.secret_name("default", "w") == "w"
    assert (await data.user_data("default", "w")).user_data == scene.value()
    scene.machine("other")
    with pytest.raises(MachineNotFound):
        data.secret_name("default", "other")


async def test_what_was_handed_back_is_looked_after_no_longer(scene: OptedIn) -> None:
    """A data Secret of ours may be left for a moment: neither its token nor anything else is kept alive."""
    scene.config()
    await scene.reconcile()
    found = scene.found()
    _released(found)
    scene.api.put(found)
    scene.later(minutes=10)
    count = len(scene.workload.calls)
    await scene.reconcile()
    assert len(scene.workload.calls) == count


async def test_the_pause_ends_though_the_cluster_does_not_answer(scene: OptedIn) -> None:
    """Killed behind the status, and the workload cluster is away: the data is there, and core must hear of it."""
    scene.config()
    await scene.reconcile()
    found = scene.found()
    found["metadata"]["annotations"][marks.PAUSED] = marks.SLIPWAY
    scene.api.put(found)
    scene.restart()

    def fail(call: Call) -> None:
        raise ApiFailure(call[0], call[1])

    scene.workload.before = fail
    await scene.reconcile()
    assert not scene.facts().held


async def test_an_endpoint_of_kubeadm_s_own_counts_on_control_planes() -> None:
    """As it does with the kubeadm provider: clusterConfiguration.controlPlaneEndpoint wins over the Cluster's."""
    scene = OptedIn()
    scene.cluster(initialized=False)
    spec = {"clusterConfiguration": {"controlPlaneEndpoint": "own.example.com:7443"}}
    scene.config("c", owner=scene.machine("c", control_plane=True), spec=spec)
    await scene.reconcile("c")
    assert b"controlPlaneEndpoint: own.example.com:7443" in scene.value("c")
