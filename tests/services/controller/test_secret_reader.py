"""What many machines of a cluster ask for at once is asked for once, also where it can not be had."""

import asyncio

import pytest

from slipway.controller.kubernetes.failures import Unreachable
from slipway.controller.resources import Json, Resource
from slipway.controller.secret_reader import SecretReader
from tests.services.controller.memory_api import MemoryApi

_MANY = 32


async def test_who_waited_for_a_call_that_failed_does_not_try_again_in_turn() -> None:
    """A Secret whose read hangs until its deadline would hold up all workers for as many deadlines."""
    api, asked, hurt = MemoryApi(), list[str](), True

    class Slow:
        async def get(self, kind: Resource, namespace: str, name: str) -> Json:
            asked.append(name)
            await asyncio.sleep(0)
            if hurt:
                raise Unreachable("GET", kind.kind, name)
            return {"metadata": {"namespace": namespace, "name": name, "uid": "u", "resourceVersion": "1"}, "data": {}}

    reader = SecretReader(Slow(), api.lookup("Secret"))  # type: ignore[arg-type]
    found = await asyncio.gather(*(reader.shared("n", "ca") for _ in range(_MANY)), return_exceptions=True)
    assert [type(one) for one in found] == [Unreachable] * _MANY
    assert asked == ["ca"]
    with pytest.raises(Unreachable):
        await reader.shared("n", "ca")
    assert len(asked) == 2, "who comes later tries again"
    hurt = False
    assert await asyncio.gather(*(reader.shared("n", "ca") for _ in range(_MANY))) == [{}] * _MANY
    assert len(asked) == 3
