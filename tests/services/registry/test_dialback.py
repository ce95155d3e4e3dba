"""What the registry finds when it dials back: an announced provisioner is listed by what it answers."""

from typing import Any

import pytest

from slipway.contract.errors import (
    EndpointUnreachable,
    RegistrationRejected,
)
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from tests.services.registry.conftest import Provisioning, Registering, info


async def test_what_is_listed_comes_from_the_dial(provisioning: Provisioning, registering: Registering) -> None:
    """The list has what the endpoint said; the announcement had only name, id and endpoint."""
    async with provisioning(info("x", "2.1.0", "os.files", "os.users")) as endpoint, registering() as registry:
        answer = await registry.register(endpoint.address)
        (listed,) = await registry.listing()
    assert (answer.ttl.seconds, answer.renew_after.seconds) == (30, 10)
    assert len(answer.lease_id) == 32
    assert listed.info == endpoint.advertised
    assert (listed.instance_id, listed.endpoint, listed.static) == ("i1", endpoint.address, False)
    assert (listed.state, listed.state_reason, listed.identity) == (registrypb.INSTANCE_STATE_READY, "", "")
    assert answer.lease_id not in str(listed)


@pytest.mark.parametrize(
    ("request_fields", "paths", "reason"),
    [
        ({"name": "Not_A_Name"}, ["name"], "upper case and underscore"),
        ({"name": "a" * 64}, ["name"], "too long"),
        ({"instance_id": ""}, ["instance_id"], "missing"),
        ({"endpoint": "127.0.0.1"}, ["endpoint"], "no port"),
        ({"endpoint": "127.0.0.1:70000"}, ["endpoint"], "no such port"),
        ({"endpoint": "10.0.0.1:443"}, ["endpoint"], "not this machine, and no TLS"),
        ({"name": "", "instance_id": "", "endpoint": ""}, ["name", "instance_id", "endpoint"], "all at once"),
    ],
)
async def test_a_malformed_announcement_is_rejected(
    registering: Registering, *, request_fields: dict[str, str], paths: list[str], reason: str
) -> None:
    """The author of a provisioner reads which fields are wrong, before anything is dialled."""
    async with registering() as registry:
        with pytest.raises(RegistrationRejected) as caught:
            await registry.register(**({"endpoint": "127.0.0.1:1"} | request_fields))
        assert await registry.listing() == [], reason
    assert [violation.path for violation in caught.value.violations] == paths, reason


async def test_an_unreachable_endpoint_is_not_listed(registering: Registering, unused_port: int) -> None:
    """An announcement is only a hint; the caller learns why."""
    async with registering() as registry:
        with pytest.raises(EndpointUnreachable) as caught:
            await registry.register(f"127.0.0.1:{unused_port}")
        assert await registry.listing() == []
    assert caught.value.metadata["cause"] == "UNAVAILABLE"


async def test_an_endpoint_that_hangs_is_unreachable(provisioning: Provisioning, registering: Registering) -> None:
    """The dial has a deadline."""
    async with provisioning() as endpoint, registering(dial_seconds=0.1) as registry:
        endpoint.hang = True
        with pytest.raises(EndpointUnreachable) as caught:
            await registry.register(endpoint.address)
    assert caught.value.metadata["cause"] == "DEADLINE_EXCEEDED"


async def test_something_else_at_the_endpoint_is_unreachable(registering: Registering) -> None:
    """A server that is no provisioner (here the registry itself) is none."""
    async with registering() as registry:
        with pytest.raises(EndpointUnreachable) as caught:
            await registry.register(registry.address)
    assert caught.value.metadata["cause"] == "UNIMPLEMENTED"


def _broken(**changes: Any) -> Any:
    message = info()
    for path, value in changes.items():
        if path == "clear":
            message.ClearField(value)
        elif path == "format":
            message.formats.add().CopyFrom(message.formats[0])
        elif path == "feature":
            message.formats[0].features.add(id=value)
        elif path == "families":
            message.formats[0].ClearField("os_families")
        else:
            setattr(message, path, value)
    return message


@pytest.mark.parametrize(
    ("advertised", "path"),
    [
        (_broken(name="y"), "name"),
        (_broken(name="no good"), "name"),
        (_broken(implementation_version="one"), "implementation_version"),
        (_broken(features_advertised=False), "features_advertised"),
        (_broken(clear="formats"), "formats"),
        (_broken(format=True), "formats[1].format"),
        (_broken(feature="os.files"), "formats[0].features[1].id"),
        (_broken(feature="Not An Id"), "formats[0].features[1].id"),
        (_broken(families=None), "formats[0].os_families"),
    ],
)
async def test_a_provisioner_that_breaks_the_contract_is_rejected(
    provisioning: Provisioning, registering: Registering, *, advertised: Any, path: str
) -> None:
    """Its author reads which field of the answer is wrong."""
    async with provisioning(advertised) as endpoint, registering() as registry:
        with pytest.raises(RegistrationRejected) as caught:
            await registry.register(endpoint.address)
    assert [violation.path for violation in caught.value.violations] == [path]
