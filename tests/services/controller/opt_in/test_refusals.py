"""What keeps an opted-in KubeadmConfig from going on, and what is none of Slipway's."""

import base64
from collections.abc import Callable

import pytest
import yaml

from slipway.controller import ownership
from slipway.kubernetes_api.failures import ApiFailure
from slipway.kubernetes_api.resources import Json
from tests.services.controller.opt_in.opted_in import OptedIn, ready
from tests.services.controller.scene import CLUSTER
from tests.services.kubernetes_api.memory_api import Call

UNDER_KUBEADM = {
    "controlPlaneRef": {"apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane", "name": "kcp"}
}


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
    ready(scene)
    owner = scene.machine("c", control_plane=True)
    scene.config("c", owner=owner, annotations={ownership.PROVISIONER: provisioner})
    await scene.reconcile("c")
    status, reason, message = scene.condition("c", "DataSecretAvailable")
    assert (status, reason) == ("False", "ControlPlaneNeedsKubeadm")
    assert provisioner in message
    assert [one["reason"] for one in scene.api.all("Event")] == ["ControlPlaneNeedsKubeadm"]
    assert scene.api.find("ConfigMap", f"{CLUSTER}-lock") is None, "another machine may begin"


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
    """ContentFrom and passwdFrom are resolved, encoded content is decoded; what is missing is named.

    A text gets the newline that today's literal block of YAML puts behind it, encoded content does not.
    """
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
    assert (files["/etc/one"], files["/etc/two"]) == ("first\n", "second")
    assert next(one for one in document["users"] if one["name"] == "joe")["hashed_passwd"] == "$6$hash"


def _late(found: Json) -> None:
    del found["metadata"]["labels"][ownership.OWNER]


def _released(found: Json) -> None:
    found["metadata"]["annotations"][ownership.RELEASED] = "a person"


def _handed_over(found: Json) -> None:
    del found["metadata"]["annotations"][ownership.PAUSED]


def _paused_for_us(found: Json) -> None:
    found["metadata"]["annotations"][ownership.OWN_PAUSED] = ""


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
    assert scene.condition(type_="DataSecretAvailable")[1] == "BootstrapEngineVersionSkew"
    found = scene.found()
    found["metadata"]["annotations"][ownership.KUBEADM_VERSION] = "v1.34.2"
    scene.api.put(found)
    await scene.reconcile()
    assert not scene.facts().held


async def test_a_failing_api_leaves_the_object_held(scene: OptedIn) -> None:
    """The status cannot be written: the pause stays, since core must not be woken by half of it."""
    scene.config()

    def fail(call: Call) -> None:
        if call[0] == "merge":
            raise ApiFailure("PATCH", call[1], call[3])

    scene.api.before = fail
    following = await scene.reconcile()
    assert following.failed
    assert scene.facts().held
    assert scene.api.find("Secret", "w") is not None
