"""The same for configs that opt in."""

import pytest

from tests.services.controller.opt_in.opted_in import OptedIn, ready


@pytest.fixture
def scene() -> OptedIn:
    """Cluster and workload cluster are ready, and the seed of tokens is there."""
    scene = OptedIn()
    scene.cluster()
    ready(scene)
    return scene
