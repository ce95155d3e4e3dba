"""What the registry makes of those that announce themselves, and which of them the bootstrapper takes."""

from dataclasses import replace
from typing import Any

import pytest

from slipway.cli.processes import LOOPBACK, Process
from slipway.cli.readiness import local_connection
from slipway.cli.remote import RemoteBackend
from slipway.contract.errors import SlipwayError
from slipway.rpc.addresses import free_port
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from tests.integration.site import BACK_SECONDS, START_SECONDS, Site, until

# One process has all tests, and starts the services once.
pytestmark = [
    pytest.mark.long,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(400),
    pytest.mark.xdist_group("registrations"),
]


async def test_two_versions_stand_side_by_side(site: Site) -> None:
    """The newest is taken, an older one when the spec pins it, and one that is not there is refused."""
    old, new = await site.provisioner("versions", "1.9.0"), await site.provisioner("versions", "1.10.0")
    await site.serves("versions")

    async def newest() -> bool:
        return (await site.ask("versions")).provisioner.version == "1.10.0"

    await until(newest, BACK_SECONDS)
    pinned = await site.ask("versions", version="1.9.0")
    assert (pinned.provisioner.version, pinned.user_data.splitlines()[0]) == ("1.9.0", b"1.9.0")
    with pytest.raises(SlipwayError) as caught:
        await site.ask("versions", version="2.0.0")
    assert caught.value.reason == "PROVISIONER_NOT_FOUND"
    for process in (old, new):
        await process.stop()


# What the registry answers to a provisioner with such a script, as that logs it.
ANNOUNCEMENTS: list[tuple[dict[str, Any], str]] = [
    ({"info": [{"fault": "WrongName"}]}, "REGISTRATION_REJECTED"),
    ({"info": [{"fault": "WrongVersion"}]}, "REGISTRATION_REJECTED"),
    ({"info": [{"fault": "NotAdvertised"}]}, "REGISTRATION_REJECTED"),
    ({"info": [{"fault": "NoFormats"}]}, "REGISTRATION_REJECTED"),
    ({"info": [{"fault": "Flood", "bytes": 100_000}]}, "REGISTRATION_REJECTED"),
    ({"info": [{"fault": "Hang"}]}, "ENDPOINT_UNREACHABLE"),
    ({"info": [{"fault": "Status", "code": "DATA_LOSS"}]}, "ENDPOINT_UNREACHABLE"),
    ({"health": [{"fault": "UnknownService"}]}, "ENDPOINT_UNREACHABLE"),
    ({"health": [{"fault": "Hang"}]}, "ENDPOINT_UNREACHABLE"),
    ({"registration": {"endpoint": f"{LOOPBACK}:1"}}, "ENDPOINT_UNREACHABLE"),
    ({"registration": {"name": "somebody-else"}}, "REGISTRATION_REJECTED"),
    ({"info": [{"fault": "OtherFeatures"}]}, "CAPABILITIES_DISAGREE"),
]


async def test_what_the_registry_answers_to_announcements(site: Site) -> None:
    """What an endpoint says of itself is checked by a call back; one that disagrees with the others stays outside."""
    sound = await site.provisioner("announced")
    processes = [await site.start("announced", **script) for script, _ in ANNOUNCEMENTS]

    def missing() -> list[tuple[dict[str, Any], str]]:
        # On a busy machine the call itself may end before its answer; the keeper asks again.
        said = [{line.get("reason") for line in site.log(process)} for process in processes]
        return [row for row, reasons in zip(ANNOUNCEMENTS, said, strict=True) if row[1] not in reasons]

    async def all_answered() -> bool:
        return not missing()

    try:
        await until(all_answered, START_SECONDS)
        assert not [
            process for process in processes if any(line["event"] == "registered" for line in site.log(process))
        ]
        ready = await site.ready()
        assert sound.address in ready
        assert not {process.address for process in processes} & set(ready)
    finally:
        for process in [*processes, sound]:
            await process.stop()


async def test_states_that_an_instance_may_have(site: Site) -> None:
    """It may be listed and not ready; without renewals or a good-bye its lease runs out."""
    address = f"{LOOPBACK}:{free_port()}"
    hasty = ["--lease-ttl-seconds", "3", "--renew-after-seconds", "0.5", "--probe-seconds", "1"]
    registry = await site.services.run("hasty-registry", "slipway.registry", address, *hasty)
    backend = RemoteBackend(replace(local_connection(site.services), registry=address))
    waiting = await site.start("states", registry=address, health=[{"fault": "NotServing"}])
    mute = {"renew": False, "deregister": False}
    silent = await site.start("states", registry=address, registration=mute)

    async def state(process: Process) -> str:
        try:
            found = {provisioner.endpoint: provisioner.state for provisioner in await backend.provisioners()}
        except (SlipwayError, ConnectionError):
            return ""
        return registrypb.InstanceState.Name(found[process.address]) if process.address in found else ""

    async def waits() -> bool:
        return await state(waiting) == "INSTANCE_STATE_NOT_READY"

    async def expired() -> bool:
        return await state(silent) == "INSTANCE_STATE_EXPIRED"

    try:
        await until(waits, START_SECONDS)
        await until(expired, START_SECONDS)
        assert silent.running
        assert await waits()
        await silent.stop()
        await waiting.stop()
        assert [await state(one) for one in (silent, waiting)] == ["INSTANCE_STATE_EXPIRED", ""]
    finally:
        await backend.close()
        await registry.stop()


async def test_a_name_that_is_not_on_the_list_gets_no_bundle(site: Site) -> None:
    """It may register; the bootstrapper never calls it."""
    process = await site.provisioner("stranger")
    with pytest.raises(SlipwayError) as caught:
        await site.ask("stranger")
    assert caught.value.reason == "PROVISIONER_NOT_ALLOWED"
    await process.stop()
