"""The rules of leases and states without a network."""

import pytest

from slipway.contract.errors import EndpointUnreachable, Overloaded
from slipway.registry.dialback import Finding
from slipway.registry.instance import DRAINING, EXPIRED, NOT_READY, READY, Instance
from slipway.registry.registrations import MAX_LIST, MAX_NAME_LIST, LeaseDuration, Registrations
from slipway.registry.store import MemoryStore
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from tests.services.registry.conftest import FakeClock, info

FOUND = Finding(info=info(), serving=True, identity="")
LOST = EndpointUnreachable("gone")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def registrations(clock: FakeClock) -> Registrations:
    ids = iter(str(number) for number in range(100))
    return Registrations(MemoryStore(epoch="e"), clock, lease_duration=LeaseDuration(), new_id=lambda: next(ids))


def _register(registrations: Registrations, *, instance_id: str = "i1", endpoint: str = "localhost:1") -> Instance:
    request = registrypb.RegisterRequest(name="x", instance_id=instance_id, endpoint=endpoint)
    holders = registrations.holders(name="x", instance_id=instance_id, endpoint=endpoint)
    return registrations.register(request, FOUND, holders=holders)


@pytest.mark.parametrize("outcome", [FOUND, LOST])
def test_a_dial_does_not_wake_who_drains_or_is_expired(
    registrations: Registrations, clock: FakeClock, outcome: Finding | EndpointUnreachable
) -> None:
    """DRAINING and EXPIRED are final for a lease: an endpoint that still answers is not called again."""
    draining = _register(registrations)
    registrations.renew(draining.lease_id, draining=True)
    registrations.observe(draining, outcome)
    assert [instance.state for instance in registrations.snapshot()] == [DRAINING]
    clock.advance(31)
    registrations.sweep()
    registrations.observe(draining, outcome)
    assert [instance.state for instance in registrations.snapshot()] == [EXPIRED]


def test_a_late_dial_does_not_change_a_newer_lease(registrations: Registrations) -> None:
    """A dial of the old process that ends after the new one has registered says nothing of the new one."""
    old = _register(registrations)
    _register(registrations)
    registrations.observe(old, LOST)
    assert [instance.state for instance in registrations.snapshot()] == [READY]


def test_a_renewal_does_not_make_ready(registrations: Registrations) -> None:
    """That a process lives does not mean that it can be called."""
    lease = _register(registrations)
    registrations.observe(lease, LOST)
    registrations.renew(lease.lease_id, draining=False)
    (listed,) = registrations.snapshot()
    assert (listed.state, listed.state_reason) == (NOT_READY, "gone")


def test_the_list_is_sorted(registrations: Registrations) -> None:
    """Two lists of the same state are equal, so that people and tests can compare them."""
    for number in (3, 1, 2):
        _register(registrations, instance_id=f"i{number}", endpoint=f"localhost:{number}")
    assert [instance.instance_id for instance in registrations.snapshot()] == ["i1", "i2", "i3"]


def test_watchers_are_woken_by_changes_only(registrations: Registrations, clock: FakeClock) -> None:
    """A hundred instances renewing every ten seconds must not send the list ten times a second."""
    lease = _register(registrations)
    change = registrations.change()
    registrations.renew(lease.lease_id, draining=False)
    registrations.observe(lease, FOUND)
    registrations.sweep()
    registrations.deregister("never-was")
    assert not change.is_set()
    clock.advance(31)
    registrations.sweep()
    assert change.is_set()


def test_the_lease_id_is_told_to_nobody_else(registrations: Registrations) -> None:
    """Who knows it could end the lease; neither the list nor a log line of the record has it."""
    lease = _register(registrations)
    assert lease.lease_id == "0"
    assert "lease_id" not in repr(lease)
    assert "lease_id" not in lease.to_message().DESCRIPTOR.fields_by_name


@pytest.mark.parametrize(
    "endpoint",
    [
        "LocalHost:1",
        "localhost.:1",
        "localhost:01",
        "127.0.0.1:1",
        "127.0.0.9:1",
        "127.1:1",
        "2130706433:1",
        "0x7f000001:1",
        "0.0.0.0:1",
        "[::1]:1",
        "[0:0:0:0:0:0:0:1]:1",
        "[::ffff:127.0.0.1]:1",
        "[::]:1",
        "dns:localhost:1",
        "dns:///LOCALHOST:1",
        "ipv4:127.0.0.1:1",
        "ipv6:[::1]:1",
        "a.localhost:1",
    ],
)
def test_an_endpoint_has_one_lease_however_it_is_written(registrations: Registrations, endpoint: str) -> None:
    """No name fills the list with spellings of one server; a restarted one finds no old lease of its own."""
    _register(registrations, instance_id="old")
    _register(registrations, instance_id="new", endpoint=endpoint)
    assert [(instance.instance_id, instance.endpoint) for instance in registrations.snapshot()] == [("new", endpoint)]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("Host.Example:443", "host.example.:443", True),
        ("[2001:DB8::1]:443", "[2001:db8:0:0::1]:443", True),
        ("[::ffff:10.0.0.1]:443", "10.0.0.1:443", True),
        ("010.0.0.1:443", "8.0.0.1:443", True),
        ("host.example:443", "host.example:444", False),
        ("host.example:443", "host.example.org:443", False),
        ("10.0.0.1:443", "10.0.0.2:443", False),
        ("fade:443", "250.222:443", False),
        ("localhost.example:443", "localhost:443", False),
    ],
)
def test_other_servers_keep_their_own_lease(
    registrations: Registrations, first: str, second: str, *, same: bool
) -> None:
    """What is another name or address is another endpoint, whatever it looks like."""
    _register(registrations, instance_id="a", endpoint=first)
    _register(registrations, instance_id="b", endpoint=second)
    assert len(registrations.snapshot()) == (1 if same else 2)


def test_one_name_leaves_room_for_others(registrations: Registrations) -> None:
    """However large its advertisements are; what cannot be reached makes room for what answers."""
    large = Finding(info=info("x", "1.0.0", *(f"os.{number:050}" for number in range(1000))), serving=True, identity="")
    assert large.info.ByteSize() > 50_000

    def register(number: int) -> Instance:
        place = f"h{number}:1"
        request = registrypb.RegisterRequest(name="x", instance_id=place, endpoint=place)
        return registrations.register(request, large, holders=frozenset())

    def fill() -> None:
        for number in range(64):
            register(number)

    with pytest.raises(Overloaded):
        fill()
    listed = registrations.snapshot()
    assert sum(instance.info.ByteSize() for instance in listed) < MAX_NAME_LIST < MAX_LIST / 2
    registrations.observe(listed[3], LOST)
    register(64)
    assert {instance.endpoint for instance in registrations.snapshot()} == {
        "h64:1",
        *(instance.endpoint for instance in listed if instance is not listed[3]),
    }
