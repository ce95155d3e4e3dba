"""A process of the provisioner that is started elsewhere sees another host name, so that what writes it is seen."""

import asyncio
import sys

import pytest

from slipway.conformance.launcher import ProcessLauncher, Setup

_PROGRAM = "import socket, sys; print(socket.gethostname())"


async def name(hostname: str | None) -> str:
    """Give the host name that a process sees."""
    running = await ProcessLauncher((sys.executable, "-c", _PROGRAM)).start(Setup(listen=None, hostname=hostname))
    assert await running.ended(20) == 0
    await running.kill()
    return running.output().decode().strip()


async def test_another_host_name() -> None:
    """By a namespace of its own, where this machine lets the suite make one."""
    tried = await asyncio.create_subprocess_exec(
        "unshare", "--user", "--map-root-user", "--uts", "true", stderr=asyncio.subprocess.DEVNULL
    )
    if await tried.wait():
        pytest.skip("this machine gives no namespaces")
    here = await name(None)
    assert await name("elsewhere") == "elsewhere"
    assert here != "elsewhere"
