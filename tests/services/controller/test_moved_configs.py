"""Configs that got another uid, as by a move to another management cluster: what their machines have goes on."""

from dataclasses import replace
from pathlib import Path

import pytest

from slipway.controller.data_secret import CONFIG_UID
from slipway.controller.payloads import Payloads
from slipway.kubernetes_api.resources import SECRETS
from slipway.reports.objects import Objects
from tests.services.controller.payload_scene import SPEC, annotations, stored
from tests.services.controller.scene import Scene

MOVED = "uid-after-the-move"


def move(scene: Scene, name: str = "w") -> None:
    """Give a config another uid, without its status, and have its Secret refer to it, as clusterctl does."""
    config, secret = scene.api.find("SlipwayConfig", name), scene.api.find("Secret", name)
    assert config is not None
    assert secret is not None
    config.pop("status", None)
    scene.api.put({**config, "metadata": {**config["metadata"], "uid": MOVED}})
    references = [{**reference, "uid": MOVED} for reference in secret["metadata"]["ownerReferences"]]
    scene.api.put({**secret, "metadata": {**secret["metadata"], "ownerReferences": references}})
    scene.restart()


def tokens(scene: Scene) -> dict[str, str]:
    """Give the expiration of each token in the workload cluster."""
    return {item["metadata"]["name"]: item["data"]["expiration"] for item in scene.workload.all("Secret")}


async def test_the_token_that_the_machine_has_is_refreshed(scene: Scene) -> None:
    """It is the token of the Secret, longer than before, and made again when it was lost: never one of the new uid."""
    scene.worker()
    await scene.reconcile()
    before, data = tokens(scene), scene.value()
    move(scene)
    scene.later(minutes=5)
    await scene.reconcile()
    after = tokens(scene)
    assert after.keys() == before.keys()
    assert after != before
    (name,) = after
    await scene.workload.delete(SECRETS, "kube-system", name)
    scene.restart()
    scene.later(minutes=5)
    await scene.reconcile()
    assert tokens(scene).keys() == {name}
    assert scene.value() == data
    assert scene.condition() == ("True", "Available", "")


async def test_a_secret_without_the_annotation_is_of_its_config(scene: Scene) -> None:
    """It was made before there was one: its token is that of the config's own uid, as it always was."""
    scene.worker()
    await scene.reconcile()
    before = tokens(scene)
    secret = scene.api.find("Secret", "w") or {}
    del secret["metadata"]["annotations"][CONFIG_UID]
    scene.api.put(secret)
    scene.later(minutes=5)
    await scene.reconcile()
    assert tokens(scene).keys() == before.keys()


async def test_a_new_render_is_of_the_new_uid(scene: Scene) -> None:
    """The annotations of a Secret are chosen by those who may write it: no new user data have a token of its uid."""
    scene.pool()
    await scene.reconcile("p")
    before = tokens(scene)
    move(scene, "p")
    config = scene.api.find("SlipwayConfig", "p") or {}
    config["metadata"]["generation"] = 2
    scene.api.put(config)
    await scene.reconcile("p")
    assert len(tokens(scene).keys() - before.keys()) == 1
    assert (scene.api.find("Secret", "p") or {})["metadata"]["annotations"][CONFIG_UID] == MOVED


async def test_a_payload_that_is_in_the_store_is_kept(fetching: Scene, store: Objects) -> None:
    """Both management clusters use one store: the payload stays, and ends when the machine is long there."""
    fetching.worker(spec=SPEC)
    await fetching.reconcile()
    before = stored(store)
    move(fetching)
    following = await fetching.reconcile()
    assert fetching.condition() == ("True", "Available", "")
    assert stored(store) == before
    assert following.after is not None
    machine = fetching.api.find("Machine", "w") or {}
    fetching.api.put({**machine, "status": {"nodeRef": {"name": "w"}}})
    await fetching.reconcile()
    fetching.later(minutes=31)
    await fetching.reconcile()
    assert stored(store) == {}


@pytest.mark.parametrize("remaining", ["nothing", "a payload of another namespace"])
async def test_a_payload_that_stayed_behind_stops_the_machine(
    fetching: Scene, store: Objects, tmp_path: Path, remaining: str
) -> None:
    """The gateway here has the address of the other one, and another store: the condition says so, until it joins."""
    fetching.worker(spec=SPEC)
    await fetching.reconcile()
    there, elsewhere = fetching.payloads, Objects.of((tmp_path / "elsewhere").as_uri())
    assert there is not None
    fetching.payloads = Payloads(elsewhere, there.fetching)
    if remaining != "nothing":
        name = annotations(fetching)["bootstrap.slipway.dev/payload"].rpartition("/")[2]
        elsewhere.put(f"payload/{name}", b"x")
        elsewhere.put(f"owners/{name}", b"another")
    move(fetching)
    await fetching.reconcile()
    assert fetching.condition()[:2] == ("False", "PayloadElsewhere")
    fetching.payloads = replace(there)
    fetching.restart()
    await fetching.reconcile()
    assert fetching.condition() == ("True", "Available", "")
    elsewhere.close()
