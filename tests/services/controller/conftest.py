"""A cluster that machines can join, for all tests of the controller that have one."""

import pytest

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
