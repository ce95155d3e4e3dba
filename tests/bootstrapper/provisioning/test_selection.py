"""Who renders: pins, allow-list, ambiguity, versions, states."""

import pytest

from slipway.bootstrapper.provisioning.selection import all_candidates, choose
from slipway.bootstrapper.provisioning.versions import VersionRules, version_order
from slipway.bootstrapper.provisioning.wish import Wish
from slipway.contract.errors import (
    AmbiguousProvisioner,
    NoReadyProvisioner,
    ProvisionerNotAllowed,
    ProvisionerNotFound,
    SlipwayError,
    UnsupportedFormat,
    UnsupportedTarget,
)
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb

READY = registrypb.INSTANCE_STATE_READY
EXPIRED = registrypb.INSTANCE_STATE_EXPIRED
LINUX = clusterpb.OS_FAMILY_LINUX
WINDOWS = clusterpb.OS_FAMILY_WINDOWS


def instance(
    name: str, version: str = "1.0.0", *, state: int = READY, formats: tuple[str, ...] = (), family: int = LINUX
) -> registrypb.ProvisionerInstance:
    """Make an instance; its formats are named after it unless said."""
    made = registrypb.ProvisionerInstance(instance_id=f"{name}-{version}", endpoint="e", state=state)
    made.info.name, made.info.implementation_version = name, version
    for one in formats or (f"{name}-format",):
        made.info.formats.add(format=one, secret_format=one.split("/")[0], os_families=[family])
    return made


CLOUD = instance("cloud-init", formats=("cloud-config",))
IGNITION = instance("ignition", formats=("ignition/3.3.0", "ignition/2.3.0"))
WIN = instance("windows", formats=("cloudbase-init",), family=WINDOWS)


@pytest.mark.parametrize(
    ("wish", "expected", "reason"),
    [
        (Wish(name="ignition"), ("ignition", "ignition/3.3.0"), "a pin by name takes the first format"),
        (Wish(name="ignition", format="ignition/2.3.0"), ("ignition", "ignition/2.3.0"), "a pin by format"),
        (Wish(format="ignition/2.3.0"), ("ignition", "ignition/2.3.0"), "a format that one name serves"),
        (Wish(secret_format="cloud-config"), ("cloud-init", "cloud-config"), "an imported spec's own format"),
        (Wish(secret_format="ignition", infrastructure="docker"), ("ignition", "ignition/2.3.0"), "docker reads 2.3"),
        (Wish(os_family=WINDOWS), ("windows", "cloudbase-init"), "the only one for the operating system"),
    ],
)
def test_choice(wish: Wish, expected: tuple[str, str], reason: str) -> None:
    """The choice is the pinned one, or the only one that can serve."""
    candidate = choose([CLOUD, IGNITION, WIN], wish, allowed=None)
    assert (candidate.name, candidate.format.format) == expected, reason


@pytest.mark.parametrize(
    ("instances", "wish", "allowed", "error"),
    [
        ([CLOUD, IGNITION], Wish(), None, AmbiguousProvisioner),
        ([CLOUD, IGNITION], Wish(name="ignition"), {"cloud-init"}, ProvisionerNotAllowed),
        ([CLOUD], Wish(name="talos"), None, ProvisionerNotFound),
        ([instance("cloud-init", state=EXPIRED)], Wish(name="cloud-init"), None, NoReadyProvisioner),
        ([], Wish(), None, NoReadyProvisioner),
        ([CLOUD], Wish(name="cloud-init", version="2.0.0"), None, ProvisionerNotFound),
        ([CLOUD], Wish(name="cloud-init", format="ignition/3.3.0"), None, UnsupportedFormat),
        ([CLOUD], Wish(name="cloud-init", os_family=WINDOWS), None, UnsupportedTarget),
    ],
)
def test_no_choice(
    instances: list[registrypb.ProvisionerInstance], wish: Wish, allowed: set[str] | None, error: type[SlipwayError]
) -> None:
    """Every way of finding nobody has its own reason."""
    with pytest.raises(error):
        choose(instances, wish, allowed=allowed)


def test_only_allowed_names_make_a_choice_ambiguous() -> None:
    """A name that is not on the list neither gets a bundle nor stands in the way of one that is."""
    assert choose([CLOUD, IGNITION], Wish(), allowed={"ignition"}).name == "ignition"


def test_the_newest_version_serves_and_an_older_one_can_be_pinned() -> None:
    """Two versions side by side: the newest ready one, all its instances, or the pinned one."""
    old, new, gone = instance("x", "1.9.0"), instance("x", "1.10.0"), instance("x", "2.0.0", state=EXPIRED)
    assert choose([old, new, gone], Wish(name="x"), allowed=None).version == "1.10.0"
    assert choose([old, new, gone], Wish(name="x", version="1.9.0"), allowed=None).version == "1.9.0"


def test_a_refusal_says_of_each_candidate_why_it_was_not_chosen() -> None:
    """Whoever reads the error sees which instances there are and what keeps each from serving."""
    with pytest.raises(ProvisionerNotFound) as caught:
        choose([CLOUD, instance("x", state=EXPIRED)], Wish(name="talos"), allowed=None)
    assert "registered: cloud-init 1.0.0, x 1.0.0" in caught.value.message
    with pytest.raises(NoReadyProvisioner, match=r"x 1.0.0: expired\)"):
        choose([CLOUD, instance("x", state=EXPIRED)], Wish(name="x"), allowed=None)


def test_a_refusal_does_not_say_where_provisioners_listen() -> None:
    """Addresses are the operator's; two instances of a version have one reason, which is said once."""
    both = [instance("cloud-init"), instance("cloud-init")]
    both[0].endpoint, both[1].endpoint = "10.0.0.7:9443", "10.0.0.8:9443"
    for wish in (Wish(name="talos"), Wish(name="cloud-init", version="7.0.0")):
        with pytest.raises(ProvisionerNotFound) as caught:
            choose(both, wish, allowed=None)
        assert "10.0.0" not in str(caught.value.to_status())
        assert caught.value.message.count("cloud-init 1.0.0") == 1


def test_versions_are_ordered_by_number_and_pre_releases_come_first() -> None:
    """1.10 is newer than 1.9, and a pre-release older than its release."""
    versions = ["1.10.0", "1.9.0", "2.0.0-rc.1", "2.0.0", "1.9.0-alpha"]
    assert sorted(versions, key=version_order) == ["1.9.0-alpha", "1.9.0", "1.10.0", "2.0.0-rc.1", "2.0.0"]


def rules(*texts: str) -> VersionRules:
    """Read rules for versions."""
    return VersionRules.parse(texts)


@pytest.mark.parametrize(
    ("rule", "chosen", "reason"),
    [
        ("x==1.9.0", "1.9.0", "a pin wins over the newest announcement"),
        ("x>=1.10.0", "2.0.0", "a minimum leaves the newest"),
        ("x>=1.10.0-rc.1", "2.0.0", "a minimum may be a pre-release"),
        ("y==1.9.0", "2.0.0", "a rule for another name changes nothing"),
    ],
)
def test_the_operator_limits_versions(rule: str, chosen: str, reason: str) -> None:
    """What is chosen, and what is offered in its place, is a version that the operator allows."""
    versions = [instance("x", version) for version in ("1.9.0", "1.10.0", "2.0.0")]
    assert choose(versions, Wish(name="x"), allowed=None, versions=rules(rule)).version == chosen, reason
    assert [candidate.version for candidate in all_candidates(versions, allowed=None, versions=rules(rule))] == [
        chosen
    ], reason


def test_an_allowed_version_that_is_not_ready_is_waited_for() -> None:
    """The newer version that is ready does not take its place; the error names the reason for each."""
    both = [instance("x", "1.9.0", state=EXPIRED), instance("x", "2.0.0")]
    with pytest.raises(NoReadyProvisioner) as caught:
        choose(both, Wish(name="x"), allowed=None, versions=rules("x==1.9.0"))
    assert "x 1.9.0: expired" in caught.value.message
    assert "x 2.0.0: the operator allows version 1.9.0 only" in caught.value.message


@pytest.mark.parametrize(
    ("wish", "rule", "path", "remedy"),
    [
        (Wish(name="x"), "x>=2.0.0", "spec.provisioner.name", "start an allowed version"),
        (Wish(name="x", version="1.9.0"), "x>=2.0.0", "spec.provisioner.version", "choose version 2.0.0 or newer"),
        (Wish(name="x", version="1.9.0"), "x==1.9.0+b", "spec.provisioner.version", "choose version 1.9.0+b"),
        (Wish(), "x>=2.0.0", "spec.provisioner.name", "start an allowed version"),
    ],
)
def test_a_refused_version_is_no_candidate(wish: Wish, rule: str, path: str, remedy: str) -> None:
    """No wish of a spec widens the operator's rule; the error names version, reason and remedy."""
    with pytest.raises(ProvisionerNotAllowed) as caught:
        choose([instance("x", "1.9.0")], wish, allowed=None, versions=rules(rule))
    (violation,) = caught.value.violations
    assert (violation.path, remedy in violation.remedy) == (path, True)
    assert "x 1.9.0: " in violation.description


def test_a_refused_version_does_not_make_a_choice_ambiguous() -> None:
    """A name of which no version is allowed is as one that is not on the list."""
    chosen = choose([CLOUD, IGNITION], Wish(), allowed=None, versions=rules("cloud-init>=2.0.0"))
    assert chosen.name == "ignition"
    talos = instance("talos", "0.0.9")
    with pytest.raises(UnsupportedTarget) as caught:
        choose([WIN, talos], Wish(name="windows", os_family=LINUX), allowed=None, versions=rules("talos>=1.0.0"))
    assert "talos" not in caught.value.violations[0].remedy


@pytest.mark.parametrize(
    ("version", "rule", "allowed"),
    [
        ("1.0.0", "x>=1.0.0", True),
        ("1.0.0-rc.1", "x>=1.0.0", False),
        ("1.0.0-rc.10", "x>=1.0.0-rc.9", True),
        ("1.10.0", "x>=1.9.0", True),
        ("1.0.0+build", "x>=1.0.0", True),
        ("1.0.0+build", "x==1.0.0", False),
        ("latest", "x>=0.0.0", False),
    ],
)
def test_versions_are_compared_as_semantic_versions(version: str, rule: str, allowed: bool) -> None:
    """A minimum compares precedence and refuses what it cannot compare; a pin compares the whole text."""
    assert (rules(rule).refusal(instance("x", version).info) == "") is allowed


@pytest.mark.parametrize(
    "texts",
    [
        *(("x",), ("x=1.0.0",), ("x>=1.0",), ("==1.0.0",), ("x==",), ("x>1.0.0",), ("x>=1.0.0", "x==1.0.0")),
        *(("x>==1.0.0",), ("X>=1.0.0",), ("*>=1.0.0",), ("x.>=1.0.0",), ("a x==1.0.0",), ("a/x==1.0.0",)),
    ],
)
def test_malformed_rules_are_refused(texts: tuple[str, ...]) -> None:
    """A rule that could be read in two ways, or that is for no possible name, would limit nothing in silence."""
    with pytest.raises(ValueError, match=r"NAME>=VERSION|more than one rule"):
        rules(*texts)
