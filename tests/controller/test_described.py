"""What the real clusterctl shows of a cluster whose machine is refused."""

import asyncio
import os
from collections.abc import Callable

import pytest

from tests.controller.site import CLUSTER, Site, condition
from tools.oracles import go_programs

pytestmark = [pytest.mark.engine, pytest.mark.timeout(400)]


async def test_a_refusal_is_seen_in_clusterctl_describe(site: Site, engine: Callable[..., None]) -> None:
    """The tree of the cluster has our config below its Machine, with the reason and the path of what is refused."""
    engine("clusterctl-1.14")
    spec = {"provisioner": {"name": "windows"}, "os": {"sysctls": [{"name": "vm.swappiness", "value": "1"}]}}
    async with site.controller():
        await site.cluster()
        await site.workers("pool", spec)
        await site.configs(1, lambda one: condition(one).get("reason") == "UnsupportedFeature")
        shown = await site.eventually(lambda: _described(site), lambda text: "UnsupportedFeature" in text)
    lines = shown.splitlines()
    (at,) = [number for number, line in enumerate(lines) if f"SlipwayConfig {site.namespace}/" in line]
    assert lines[at + 1].lstrip(" │├└─").split()[:3] == ["Ready", "False", "UnsupportedFeature"]
    assert "spec.os.sysctls[0]" in shown


async def _described(site: Site) -> str:
    program = go_programs.PROGRAMS["clusterctl-1.14"].require()
    flags = ("-n", site.namespace, "--show-conditions=all", "--show-resourcesets", "--grouping=false", "--color=false")
    process = await asyncio.create_subprocess_exec(
        program, "describe", "cluster", CLUSTER, *flags,
        env={
            "PATH": os.environ["PATH"], "HOME": str(site.environment.directory),
            "KUBECONFIG": str(site.environment.kubeconfig), "CLUSTERCTL_DISABLE_VERSIONCHECK": "true", "COLUMNS": "400",
        },
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return output.decode()
