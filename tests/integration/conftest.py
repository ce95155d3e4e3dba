"""The services that faults are tried on."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from slipway.cli.processes import LocalServices
from tests.integration.site import RENDER_SECONDS, START_SECONDS, Site, until


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """Give registry and bootstrapper; provisioners are started by the tests."""
    folder: Path = tmp_path_factory.mktemp("site")
    services = LocalServices(folder / "logs", folder / "credentials")
    services.logs.mkdir()
    made = Site(services)
    try:
        await made.registry()
        flags = ["--registry-address", services.registry, "--credentials-dir", str(services.credentials)]
        flags += ["--allowed-provisioners", "pair,stopped,versions,refusing,lasting,scripted"]
        flags += ["--render-timeout-seconds", str(RENDER_SECONDS)]
        await services.run("bootstrapper", "slipway.bootstrap_server", services.bootstrapper, *flags)
        await until(made.answers, START_SECONDS)
        yield made
    finally:
        await made.backend.close()
        await made.channels.close()
        await services.stop()
