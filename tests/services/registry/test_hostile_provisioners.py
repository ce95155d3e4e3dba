"""What a provisioner that means harm, and has a certificate of its own, cannot do to the registry and its readers."""

from collections.abc import Callable

import pytest

from slipway.contract.errors import Overloaded, RegistrationRejected
from slipway.registry.advertisement import violations
from slipway.registry.announcement import Gate
from slipway.registry.dialback import Finding
from slipway.registry.instance import EXPIRED, NOT_READY, READY
from slipway.registry.registrations import MAX_INSTANCES, LeaseDuration, Registrations
from slipway.registry.store import MemoryStore
from slipway.rpc.server import MAX_MESSAGE_BYTES
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_profile_pb2 as profilepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from tests.services.registry.conftest import FakeClock, Provisioning, Registering, info


def padded(size: int, name: str = "x") -> provisionerpb.GetProvisionerInfoResponse:
    """An advertisement of about so many bytes."""
    found = info(name)
    del found.formats[0].features[:]
    for number in range(size // 60):
        found.formats[0].features.add(id=f"os.{'f' * 50}{number:06d}")
    return found


@pytest.mark.parametrize(
    ("endpoint", "reason"),
    [
        ("unix:/run/agent.sock:1", "a socket of the registry's own machine"),
        ("unix-abstract:agent:1", "the same, without a file"),
        ("dns://192.0.2.53/x.example:443", "a name server of the caller's choice"),
        ("ipv4:192.0.2.1:1,192.0.2.2:2", "two addresses, of which one may be anybody's"),
        ("xds:///x.example:443", "a resolver that asks a third party"),
        ("vsock:2:443", "another kind of socket"),
        ("x.example/..:443", "no host name"),
        ("x@y.example:443", "no host name"),
        ("x.example%00:443", "an escape"),
        ("[192.0.2.1]:443", "brackets around what is no IPv6 address"),
        (" x.example:443", "a blank"),
    ],
)
def test_the_registry_dials_hosts_and_ports_only(endpoint: str, reason: str) -> None:
    """An announcement cannot make it open its own sockets, nor ask other resolvers and name servers."""
    request = registrypb.RegisterRequest(name="x", instance_id="i1", endpoint=endpoint)
    with pytest.raises(RegistrationRejected) as caught:
        Gate(allowed=None, trust_domain="slipway", secure=True).check_fields(request)
    assert [violation.path for violation in caught.value.violations] == ["endpoint"], reason


async def test_without_tls_a_foreign_name_server_is_not_asked(registering: Registering) -> None:
    """A name that reads as this machine's may be another one's, by the answer of another server."""
    async with registering() as registry:
        with pytest.raises(RegistrationRejected):
            await registry.register("dns://192.0.2.53/localhost:443")


async def test_an_advertisement_that_is_too_large_is_rejected(
    registering: Registering, provisioning: Provisioning
) -> None:
    """The list of all goes out as one message: a single large entry would keep it from every reader."""
    async with registering() as registry, provisioning(padded(200_000)) as endpoint:
        with pytest.raises(RegistrationRejected):
            await registry.register(endpoint.address)
        assert await registry.listing() == []


@pytest.mark.parametrize(
    ("field", "text", "reason"),
    [
        ("file_extension", "../../x", "a path in place of a suffix"),
        ("file_extension", "yaml/x", "a folder"),
        ("media_type", "text/plain\r\nx: y", "a line break"),
        ("secret_format", "../x", "no word"),
    ],
)
def test_words_that_become_file_names_and_headers_are_checked(field: str, text: str, reason: str) -> None:
    """Callers build file names, Secrets and headers of them."""
    found = info()
    setattr(found.formats[0], field, text)
    assert [violation.path for violation in violations(found)] == [f"formats[0].{field}"], reason


@pytest.mark.parametrize(
    ("change", "path", "reason"),
    [
        (lambda profile: profile.ClearField("versions"), ".versions", "no version at all"),
        (lambda profile: setattr(profile, "default_version", "2"), ".default_version", "a default that is missing"),
        (lambda profile: setattr(profile, "os_family", clusterpb.OS_FAMILY_WINDOWS), ".os_family", "another family"),
        (
            lambda profile: setattr(profile.versions[0].kubelet, "service", "-x"),
            ".versions[0].kubelet.service",
            "an option in place of a service",
        ),
    ],
)
def test_an_os_profile_is_checked(change: Callable[[profilepb.OsProfile], None], path: str, reason: str) -> None:
    """It names programs that run as root on machines; one that breaks a rule is not announced."""
    advertised = info()
    profile = advertised.formats[0].os_profiles.add(distribution="house", default_version="1")
    profile.os_family = clusterpb.OS_FAMILY_LINUX
    profile.versions.add(version="1")
    assert violations(advertised) == []
    change(profile)
    assert [violation.path for violation in violations(advertised)] == [f"formats[0].os_profiles[0]{path}"], reason


def test_a_distribution_without_versions_needs_none() -> None:
    """One row stands for each of its versions, and for a target that names none."""
    advertised = info()
    profile = advertised.formats[0].os_profiles.add(distribution="house", os_family=clusterpb.OS_FAMILY_LINUX)
    profile.versions.add(version="")
    assert violations(advertised) == []
    profile.versions[0].version = "1"
    assert [violation.path for violation in violations(advertised)] == ["formats[0].os_profiles[0].default_version"]


def test_os_profiles_are_few_and_of_different_distributions() -> None:
    """So that the list of all instances stays small."""
    advertised = info()
    for name in ("house", "house"):
        profile = advertised.formats[0].os_profiles.add(distribution=name, default_version="1")
        profile.os_family = clusterpb.OS_FAMILY_LINUX
        profile.versions.add(version="1")
    assert [violation.path for violation in violations(advertised)] == ["formats[0].os_profiles[1].distribution"]
    advertised.formats[0].os_profiles.extend([profile] * 7)
    assert [violation.path for violation in violations(advertised)] == ["formats[0].os_profiles"]


def registrations(clock: FakeClock) -> Registrations:
    """An empty registry."""
    ids = iter(str(number) for number in range(10_000))
    return Registrations(MemoryStore(epoch="e"), clock, lease_duration=LeaseDuration(), new_id=lambda: next(ids))


def register(
    to: Registrations, number: int, found: provisionerpb.GetProvisionerInfoResponse, instance_id: str = ""
) -> None:
    """Register instance ``number`` of a provisioner."""
    request = registrypb.RegisterRequest(
        name=found.name, instance_id=instance_id or f"i{number}", endpoint=f"h{number}.example:1"
    )
    holders = to.holders(name=request.name, instance_id=request.instance_id, endpoint=request.endpoint)
    to.register(request, Finding(info=found, serving=True, identity=""), holders=holders)


def test_one_name_can_not_fill_the_list() -> None:
    """However many processes it claims to have, others still find room."""
    here = registrations(FakeClock())
    for number in range(MAX_INSTANCES):
        register(here, number, info())
    with pytest.raises(Overloaded):
        register(here, MAX_INSTANCES, info())
    register(here, MAX_INSTANCES, info("y"))


def test_the_list_always_fits_into_one_message() -> None:
    """Whatever many provisioners advertise: what does not fit is refused, and the readers get the rest."""
    here = registrations(FakeClock())
    refused = 0
    for number in range(100):
        try:
            register(here, number, padded(60_000, name=f"p{number % 20}"))
        except Overloaded:
            refused += 1
    answer = registrypb.ListProvisionersResponse(instances=[instance.to_message() for instance in here.snapshot()])
    assert refused
    assert answer.instances
    assert answer.ByteSize() < MAX_MESSAGE_BYTES


def test_an_advertisement_that_grows_later_can_not_break_the_list() -> None:
    """A later dial finds more than there is room for: the instance is not ready, and its former advertisement stays."""
    here = registrations(FakeClock())
    for number in range(60):
        register(here, number, info(f"p{number}"))
    for instance in here.snapshot():
        here.observe(instance, Finding(info=padded(60_000, name=instance.name), serving=True, identity=""))
    states = {instance.state for instance in here.snapshot()}
    answer = registrypb.ListProvisionersResponse(instances=[instance.to_message() for instance in here.snapshot()])
    assert states == {READY, NOT_READY}
    assert answer.ByteSize() < MAX_MESSAGE_BYTES


def test_who_has_left_makes_room() -> None:
    """Instances whose leases have ended are kept for people, and never at the cost of a living one."""
    clock = FakeClock()
    here = registrations(clock)
    for number in range(MAX_INSTANCES):
        register(here, number, info())
    clock.advance(31)
    here.sweep()
    register(here, MAX_INSTANCES, info())
    states = [instance.state for instance in here.snapshot()]
    assert (states.count(READY), states.count(EXPIRED)) == (1, MAX_INSTANCES - 1)
