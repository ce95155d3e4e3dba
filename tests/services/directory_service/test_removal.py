"""Which computers the service removes when their machines are deleted."""

from slipway.directory.failures import ServerUnavailable
from slipway.directory_service.watches import MOVED
from slipway.kubernetes_api.resources import Json
from tests.services.controller.scene import cluster_object
from tests.services.directory_service.estate import Estate, values_of


def deleted(machine: Json, **annotations: str) -> Json:
    """Give a Machine that is being deleted."""
    metadata = {**machine["metadata"], "deletionTimestamp": "2030-01-01T00:00:00Z", "annotations": annotations}
    return {**machine, "metadata": metadata}


async def test_the_computer_of_a_deleted_machine_is_removed_where_that_is_asked_for() -> None:
    """Only then, and only once the Machine is gone."""
    for cleanup in (False, True):
        estate = Estate(cleanup=cleanup)
        machine = estate.worker()
        await estate.look()
        estate.put(deleted(machine))
        await estate.look()
        assert estate.domain.computer("W") is not None
        estate.gone(machine)
        await estate.look()
        assert (estate.domain.computer("W") is None) == cleanup
        assert not estate.service.watches.gone


async def test_a_domain_that_is_away_keeps_the_removal_for_later() -> None:
    """It is tried again with growing pauses, and done once the domain is back."""
    estate = Estate(cleanup=True)
    machine = estate.worker()
    await estate.look()
    estate.put(deleted(machine))
    estate.gone(machine)
    estate.failure = ServerUnavailable("no answer")
    await estate.look()
    assert estate.service.queue.delayed == 1
    estate.failure = None
    await estate.look()
    assert estate.domain.computer("W") is None


async def test_the_computer_of_a_moved_machine_stays() -> None:
    """A move deletes the objects of a machine that lives on: its Cluster is paused, and they have a mark."""
    for moving in ("mark", "pause", "no deletion seen"):
        estate = Estate(cleanup=True)
        machine = estate.worker()
        await estate.look()
        if moving == "pause":
            estate.put(cluster_object(paused=True))
        if moving != "no deletion seen":
            estate.put(deleted(machine, **({MOVED: ""} if moving == "mark" else {})))
        estate.gone(machine)
        await estate.look()
        assert estate.domain.computer("W") is not None, moving


async def test_a_machine_that_is_made_again_keeps_its_computer() -> None:
    """Under the same name before the removal was done: it gets the object with a new password."""
    estate = Estate(cleanup=True)
    machine = estate.worker()
    await estate.look()
    before = estate.domain.passwords["guid-of-W"]
    estate.put(deleted(machine))
    estate.gone(machine)
    estate.api.remove("Secret", "w-directory")
    estate.worker()
    await estate.look()
    after = estate.domain.passwords["guid-of-W"]
    assert after != before
    assert values_of(estate.api.find("Secret", "w-directory"))["one-time-password"].decode() == after
