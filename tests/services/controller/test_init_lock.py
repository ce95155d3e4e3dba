"""Who holds a cluster's lock, where the local copy is late and anybody may write the lock."""

import json

import pytest

from slipway.controller.cluster_object import ClusterObject
from slipway.controller.halt import Halt
from slipway.controller.init_lock import KEY, InitLock
from slipway.kubernetes_api.failures import Unreachable
from tests.services.controller.scene import CLUSTER, cluster_object, machine_object
from tests.services.kubernetes_api.memory_api import NOW, Call, MemoryApi


class Nothing:
    """A local copy in which nothing is yet."""

    def get(self, *_: str) -> None:
        return None


def _held(api: MemoryApi, holder: str) -> ClusterObject:
    data = {KEY: json.dumps({"machineName": holder})}
    api.put({"kind": "ConfigMap", "metadata": {"name": f"{CLUSTER}-lock"}, "data": data})
    return ClusterObject(api.put(cluster_object()))


def _holder(api: MemoryApi) -> str:
    found = api.find("ConfigMap", f"{CLUSTER}-lock")
    assert found is not None
    return str(json.loads(found["data"][KEY])["machineName"])


async def test_a_holder_that_the_local_copy_does_not_know_yet_keeps_the_lock() -> None:
    """The API is asked before the lock is taken from anybody: two first machines would be two clusters."""
    api = MemoryApi()
    api.put(machine_object("new"))
    cluster = _held(api, "new")
    with pytest.raises(Halt) as halt:
        await InitLock(api, Nothing()).take(cluster, "other", now=NOW)
    assert "Machine new initialises" in halt.value.message
    assert _holder(api) == "new"


@pytest.mark.parametrize("holder", ["gone", "", "../secrets/x", "a?b", "A b"])
async def test_a_lock_that_nobody_holds_is_taken(holder: str) -> None:
    """Its Machine is not there, or cannot be: no such name is ever asked for."""
    api = MemoryApi()
    await InitLock(api, Nothing()).take(_held(api, holder), "other", now=NOW)
    assert _holder(api) == "other"
    assert {name for _, kind, _, name in api.calls if kind == "Machine"} <= {"gone"}


async def test_a_holder_that_can_not_be_asked_for_keeps_the_lock() -> None:
    """No answer is no reason to take it."""
    api = MemoryApi()
    cluster = _held(api, "new")

    def away(call: Call) -> None:
        if call[1] == "Machine":
            raise Unreachable(call[0], call[1])

    api.before = away
    with pytest.raises(Unreachable):
        await InitLock(api, Nothing()).take(cluster, "other", now=NOW)
    assert _holder(api) == "new"
