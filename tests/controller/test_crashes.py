"""A controller that is killed between any two writes on a real API server, and the next one that takes over."""

import asyncio
import base64
import contextlib
from typing import Any

import pytest

from slipway.kubernetes_api.api import Api
from slipway.kubernetes_api.resources import Json, Resource
from tests.controller.site import OURS, Site, condition, has_data
from tools.cluster.topology import CORE

pytestmark = [pytest.mark.engine, pytest.mark.timeout(400)]

WRITES = 3
"""Seed of the cluster's tokens, data Secret, status; the token in the workload cluster lies between the first two."""


class Dying:
    """Calls that end for ever at a write: before it, or after it was done and before anybody heard of it."""

    def __init__(self, api: Api, point: int, *, after: bool) -> None:
        self._api = api
        self._point = point
        self._after = after
        self.dead = asyncio.Event()

    def __getattr__(self, verb: str) -> Any:
        call = getattr(self._api, verb)

        async def one(resource: Resource, *args: Any, **kwargs: Any) -> Json:
            if self.dead.is_set():
                await asyncio.Event().wait()
            if verb in {"create", "replace", "apply_status", "merge", "delete"}:
                self._point -= 1
                if self._point == 0:
                    if self._after:
                        await call(resource, *args, **kwargs)
                    self.dead.set()
                    await asyncio.Event().wait()
            found: Json = await call(resource, *args, **kwargs)
            return found

        return one


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("point", range(1, WRITES + 1))
async def test_the_next_one_comes_to_the_same(site: Site, point: int, *, after: bool) -> None:
    """One Secret, which was written once, one token, and a machine that has taken it."""
    await site.cluster()
    await site.workers("pool", {"provisioner": {"name": "cloud-init"}})
    start = site.environment.audit.position
    dying: list[Dying] = []

    def wrap(api: Api) -> Any:
        dying.append(Dying(api, point, after=after))
        return dying[0]

    with contextlib.suppress(asyncio.CancelledError):
        async with site.controller(wrap=wrap):
            async with asyncio.timeout(100):
                await dying[0].dead.wait()
    async with site.controller():
        (machine,) = await site.machines("pool", 1, has_data)
        name = machine["metadata"]["name"]
        config = await site.until(OURS, "SlipwayConfig", name, lambda one: condition(one).get("status") == "True")
    assert config["status"]["dataSecretName"] == name
    calls = site.environment.audit.calls(since=start)
    written = [
        call
        for call in calls
        if call.is_write and call.resource == "secrets" and call.namespace == site.namespace and call.name == name
    ]
    # One creation that succeeded; a second one at most was refused since the first had done it.
    assert [one.status for one in written if one.status < 400] == [201]
    tokens = [
        one
        for one in await asyncio.to_thread(site.workload.client.list, "v1", "Secret", namespace="kube-system")
        if _describes(one, f"{site.namespace}/{name}")
    ]
    assert len(tokens) == 1
    assert (await site.get(CORE, "Machine", name))["spec"]["bootstrap"]["dataSecretName"] == name


def _describes(secret: Json, name: str) -> bool:

    text = base64.b64decode((secret.get("data") or {}).get("description") or "").decode()
    return text.endswith(name)
