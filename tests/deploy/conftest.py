"""What the image and the compose file need: the real docker compose, podman and the image itself."""

import os
from collections.abc import Callable

import pytest

from tools.image import podman
from tools.image.build import IMAGE
from tools.image.compose import PROGRAM
from tools.oracles.failures import EngineBroken, EngineMissing
from tools.oracles.pytest_plugin import REQUIRED


def _need(check: Callable[[], object]) -> None:
    try:
        check()
    except EngineMissing:
        told = "not on this machine: run 'make image'"
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(told, pytrace=False)
        pytest.skip(told)


@pytest.fixture
def compose() -> None:
    """The real docker compose, which reads the file without any engine."""
    _need(PROGRAM.require)


@pytest.fixture
def image(compose: None) -> str:
    """The image, built by podman."""

    def built() -> None:
        podman.require()
        try:
            podman.podman("image", "inspect", IMAGE)
        except EngineBroken:
            raise EngineMissing(IMAGE) from None

    _need(built)
    return IMAGE
