"""A cluster that machines can join, and a store of payloads, for all tests of the controller that have them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.bootstrapper.delivery.fetching import Fetching
from slipway.controller.payloads import Payloads
from slipway.reports.objects import Objects
from tests.services.controller.payload_scene import BASE
from tests.services.controller.scene import CLUSTER, Scene


@pytest.fixture
def scene() -> Scene:
    """Cluster, control plane and workload cluster are ready, and the seed of tokens is there."""
    scene = Scene()
    scene.cluster()
    scene.workload_ready()
    scene.plane()
    scene.secret(f"{CLUSTER}-slipway-token-seed", {"value": b"s" * 32})
    return scene


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Objects]:
    """Give an empty store."""
    objects = Objects.of((tmp_path / "store").as_uri())
    yield objects
    objects.close()


@pytest.fixture
def fetching(scene: Scene, store: Objects) -> Scene:
    """Give a scene whose machines may fetch."""
    scene.payloads = Payloads(store, Fetching(frozenset({"metal"}), BASE))
    scene.restart()
    return scene
