"""Handing back: what is deleted, what is left, and that a second time does what is left to do."""

import pytest

from slipway.controller import ownership
from slipway.controller.data_secret import Record
from slipway.controller.opt_in.release import Outcome, Releaser
from slipway.kubernetes_api.failures import ApiFailure
from slipway.kubernetes_api.resources import Json
from tests.services.controller.opt_in.opted_in import OptedIn
from tests.services.kubernetes_api.memory_api import NOW, WRITES, Call


async def _release(scene: OptedIn, name: str = "w") -> Outcome:
    return await Releaser(scene.api, lambda: NOW).release("default", name)


def _is_released(found: Json) -> bool:
    return ownership.released(found) and ownership.PAUSED not in found["metadata"]["annotations"]


async def test_an_object_without_data_is_handed_back(scene: OptedIn) -> None:
    """The mark before the end of the pause: the kubeadm provider begins when the controller has let go."""
    scene.config()
    assert await _release(scene) is Outcome.RELEASED
    assert _is_released(scene.found())
    assert scene.found()["metadata"]["labels"][ownership.OWNER] == ownership.SLIPWAY, (
        "whose it was made is never changed"
    )
    await scene.reconcile()
    assert scene.api.find("Secret", "w") is None, "the controller leaves it alone"


async def test_data_that_nobody_was_told_of_goes(scene: OptedIn) -> None:
    """A controller killed behind the Secret: the kubeadm provider could not write over it."""
    scene.config()

    def kill(call: Call) -> None:
        if call[0] == "merge":
            raise ApiFailure("PATCH", call[1])

    scene.api.before = kill
    await scene.reconcile()
    scene.api.before = lambda _: None
    assert scene.api.find("Secret", "w") is not None
    assert await _release(scene) is Outcome.RELEASED
    assert scene.api.find("Secret", "w") is None


async def test_data_that_is_in_use_stays(scene: OptedIn) -> None:
    """What was rendered cannot be handed back, and is not touched."""
    scene.config()
    await scene.reconcile()
    before, secret = scene.found(), scene.api.find("Secret", "w")
    assert await _release(scene) is Outcome.RENDERED
    assert scene.found() == before
    assert scene.api.find("Secret", "w") == secret


async def test_only_the_end_of_the_pause_is_left_to_do(scene: OptedIn) -> None:
    """A controller killed behind the status: its data is kept, and core is woken."""
    scene.config()
    await scene.reconcile()
    found = scene.found()
    found["metadata"]["annotations"][ownership.PAUSED] = ownership.SLIPWAY
    scene.api.put(found)
    assert await _release(scene) is Outcome.RENDERED
    assert ownership.PAUSED not in scene.found()["metadata"]["annotations"]
    assert scene.api.find("Secret", "w") is not None


@pytest.mark.parametrize("point", range(2))
async def test_broken_off_and_done_again(scene: OptedIn, point: int) -> None:
    """Whatever was the last write, doing it again leads to the end."""
    scene.config()
    count = 0

    def fail(call: Call) -> None:
        nonlocal count
        count += call[0] in WRITES
        if count == point + 1 and call[0] in WRITES:
            raise ApiFailure("PATCH", call[1])

    scene.api.before = fail
    with pytest.raises(ApiFailure):
        await _release(scene)
    scene.api.before = lambda _: None
    assert await _release(scene) is Outcome.RELEASED
    assert _is_released(scene.found())


async def test_a_status_that_was_under_way_does_not_count(scene: OptedIn) -> None:
    """The controller has read the object before it was handed back: it finds that out, and writes no status."""
    scene.config()
    stale = scene.facts()
    assert await _release(scene) is Outcome.RELEASED
    await scene.reconciler.reconcile(stale, waited=lambda _: 0.0)
    assert "dataSecretName" not in scene.status()
    assert await _release(scene) is Outcome.RELEASED
    assert scene.api.find("Secret", "w") is None, "done again, it clears away what came too late"


async def test_a_secret_that_came_too_late_is_given_up(scene: OptedIn) -> None:
    """The controller was in the midst of it: it takes its marks away, without which the kubeadm provider may write."""
    scene.config()
    stale = scene.facts()
    assert await _release(scene) is Outcome.RELEASED
    await scene.reconciler.reconcile(stale, waited=lambda _: 0.0)
    assert Record.of_secret(scene.api.find("Secret", "w") or {}) is not None
    await scene.reconcile()
    late = scene.api.find("Secret", "w") or {}
    assert Record.of_secret(late) is None
    assert "bootstrap.slipway.dev/bundle-id" not in late["metadata"]["annotations"], "what the policy looks at"
    count = len(scene.api.writes)
    await scene.reconcile()
    assert len(scene.api.writes) == count, "once"


@pytest.mark.parametrize("used", ["status", "machine", "predecessor"])
async def test_a_secret_in_use_is_not_given_up(scene: OptedIn, used: str) -> None:
    """Only the pause was left to end when the object was handed back, or it was moved since, or the Secret is older."""
    scene.config()
    await scene.reconcile()
    found, secret = scene.found(), scene.api.find("Secret", "w") or {}
    found["metadata"]["annotations"][ownership.RELEASED] = "now"
    if used != "status":
        del found["status"]
    if used == "machine":
        machine = scene.api.find("Machine", "w") or {}
        machine["spec"]["bootstrap"]["dataSecretName"] = "w"
        scene.api.put(machine)
    if used == "predecessor":
        found["metadata"]["uid"] = "another"
    scene.api.put(found)
    await scene.reconcile()
    assert scene.api.find("Secret", "w") == secret


async def test_others_are_left_alone(scene: OptedIn) -> None:
    """An object that never was ours, one that is not there, and a Secret of the kubeadm provider."""
    found = scene.config()
    del found["metadata"]["labels"][ownership.OWNER]
    scene.api.put(found)
    assert await _release(scene) is Outcome.NOT_OURS
    assert await _release(scene, "nobody") is Outcome.GONE
    scene.config("x")
    await _release(scene, "x")
    theirs = {"metadata": {"name": "x", "ownerReferences": [{"uid": scene.found("x")["metadata"]["uid"]}]}}
    scene.api.put({"kind": "Secret", **theirs})
    await _release(scene, "x")
    assert scene.api.find("Secret", "x") is not None


async def test_data_goes_before_the_pause_does(scene: OptedIn) -> None:
    """The kubeadm provider begins at the end of the pause, and would find what it may not write over."""
    found = scene.config()
    record = {
        f"bootstrap.slipway.dev/{key}": "1"
        for key in (
            *("generation", "token-rotation", "role", "provisioner", "provisioner-version"),
            *("format", "bundle-id", "user-data-bytes", "token"),
        )
    }
    ours = {
        "kind": "Secret",
        "metadata": {
            "name": "w",
            "annotations": record,
            "ownerReferences": [{"kind": "KubeadmConfig", "uid": found["metadata"]["uid"], "controller": True}],
        },
    }
    scene.api.put(ours)
    late = False

    def create_late(call: Call) -> None:
        nonlocal late
        if call[0] == "merge" and ownership.PAUSED not in scene.found()["metadata"]["annotations"] and not late:
            late = True
            scene.api.put(ours)

    scene.api.after = create_late
    assert await _release(scene) is Outcome.RELEASED
    assert [call[:2] for call in scene.api.writes] == [
        ("merge", "KubeadmConfig"),
        ("delete", "Secret"),
        ("merge", "KubeadmConfig"),
        ("delete", "Secret"),
    ]
    assert scene.api.find("Secret", "w") is None


async def test_a_controller_that_was_quicker_wins(scene: OptedIn) -> None:
    """The status was written between our look and our mark: the mark does not count, and the data stays."""
    scene.config()
    quick = scene.facts()
    first = True

    def before(call: Call) -> None:
        nonlocal first
        if call[0] == "merge" and first:
            first = False
            status = {**scene.status(), "initialization": {"dataSecretCreated": True}, "dataSecretName": "w"}
            done = {**scene.found(), "status": status}
            del done["metadata"]["annotations"][ownership.PAUSED]
            scene.api.put(done)

    scene.api.before = before
    assert quick.held
    assert await _release(scene) is Outcome.RENDERED
    assert not ownership.released(scene.found())
