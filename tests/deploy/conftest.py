"""What the image and the compose file need: the real docker compose, podman and the image itself."""

import os
from collections.abc import Callable

import pytest

from tools.image import podman
from tools.image.build import IMAGE
from tools.image.compose import PROGRAM
from tools.oracles.failures import EngineBroken, EngineMissing
from tools.oracles.pytest_plugin import REQUIRED, skip_if_quick


def _need(config: pytest.Config, check: Callable[[], object]) -> None:
    skip_if_quick(config)
    try:
        check()
    except EngineMissing:
        missing = "not on this machine: run 'make image'"
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(missing, pytrace=False)
        pytest.skip(missing)


@pytest.fixture
def compose(pytestconfig: pytest.Config) -> None:
    """The real docker compose, which reads the file without any engine."""
    _need(pytestconfig, PROGRAM.require)


@pytest.fixture
def image(compose: None, pytestconfig: pytest.Config) -> str:
    """The image, built by podman."""

    def built() -> None:
        podman.require()
        try:
            podman.podman("image", "inspect", IMAGE)
        except EngineBroken:
            raise EngineMissing(IMAGE) from None

    _need(pytestconfig, built)
    return IMAGE
