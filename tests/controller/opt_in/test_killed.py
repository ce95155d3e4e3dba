"""A controller killed between any two writes for an opted-in KubeadmConfig, and the next one that takes over."""

import asyncio
import contextlib
from typing import Any

import pytest

from slipway.kubernetes_api.api import Api
from tests.controller.opt_in import opting_in
from tests.controller.opt_in.opting_in import KIND, PROVIDER, is_done
from tests.controller.site import Site, has_data
from tests.controller.test_crashes import Dying
from tools.cluster.topology import BOOTSTRAP, CORE

pytestmark = [pytest.mark.engine, pytest.mark.timeout(500)]

WRITES = 4
"""Seed of the cluster's tokens, data Secret, status, end of the pause."""


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("point", range(1, WRITES + 1))
async def test_the_next_one_comes_to_the_same(site: Site, point: int, *, after: bool) -> None:
    """One Secret, written once and by us; the kubeadm provider, which runs all the time, makes none."""
    await site.cluster()
    start = site.environment.audit.position
    dying: list[Dying] = []

    def wrap(api: Api) -> Any:
        dying.append(Dying(api, point, after=after))
        return dying[0]

    async with opting_in.webhook(site):
        await opting_in.machine_by_hand(site, "w")
        with contextlib.suppress(asyncio.CancelledError):
            async with site.controller(wrap=wrap, opt_in=True):
                async with asyncio.timeout(100):
                    await dying[0].dead.wait()
        async with site.controller(opt_in=True):
            await site.until(CORE, "Machine", "w", has_data)
            config = await site.until(BOOTSTRAP, KIND, "w", is_done)
    assert config["status"]["dataSecretName"] == "w"
    calls = site.environment.audit.calls(since=start, resource="secrets")
    written = [call for call in calls if call.is_write and call.namespace == site.namespace and call.name == "w"]
    assert [(one.user, one.status) for one in written if one.status < 400] == [(opting_in.USER, 201)]
    assert PROVIDER not in {one.user for one in written}
