"""The rules by which accounts are made, renewed and removed."""

from datetime import timedelta

import pytest

from slipway.directory.accounts import PASSWORD_LENGTH, Accounts, one_time_password
from slipway.directory.failures import AdministratorRefused, ComputerExists, ComputerRefused, ConfigurationInvalid
from slipway.directory.settings import Settings
from tests.services.directory.fake_domain import NODES, NOW, ROOT, FakeDomain

MARK = "slipway owner=us machine=clusters/worker-1"


def accounts(domain: FakeDomain, *, base: str = NODES, unit: str = "", owner: str = "us") -> Accounts:
    """Give the accounts of an owner in a domain."""
    settings = Settings(
        server="ldaps://dc1.corp.example.com", user="joiner@corp.example.com", password="x", base=base, unit=unit,
        owner=owner,
    )  # fmt: skip
    return Accounts(domain, settings)


def test_an_account_is_made_with_mark_and_password() -> None:
    """Its password is what the result has, and no text of the result shows it."""
    domain = FakeDomain()
    account = accounts(domain, unit=f"OU=Rack,{NODES}").preset("clusters/worker-1")
    computer = domain.objects[account.created]
    assert (computer.name, computer.place) == ("WORKER-1", f"CN=WORKER-1,OU=Rack,{NODES}")
    assert computer.description == MARK
    assert domain.passwords[computer.guid] == account.password
    assert account.password not in repr(account)


def test_an_object_is_renewed_only_on_request() -> None:
    """Else the machine that has joined would lose its membership; a renewed object is not withdrawn."""
    domain = FakeDomain()
    first = accounts(domain).preset("clusters/worker-1")
    with pytest.raises(ComputerExists):
        accounts(domain).preset("clusters/worker-1")
    assert domain.passwords[first.created] == first.password
    second = accounts(domain).preset("clusters/worker-1", renew=True)
    assert domain.passwords[first.created] == second.password != first.password
    accounts(domain).withdraw(second)
    assert domain.computer("WORKER-1")
    accounts(domain).withdraw(first)
    assert not domain.computer("WORKER-1")


@pytest.mark.parametrize(
    ("unit", "description", "reason"),
    [
        (NODES, "", "no mark"),
        (NODES, "the rack in the cellar", "a person's description"),
        (NODES, "slipway owner=them machine=clusters/worker-1", "another owner"),
        (NODES, "slipway owner=us machine=elsewhere/worker-1", "a Machine of another namespace"),
        (f"CN=Computers,{ROOT}", MARK, "outside the base"),
    ],
)
def test_what_is_not_ours_is_never_changed(unit: str, description: str, reason: str) -> None:
    """Not even a renewal touches it."""
    domain = FakeDomain()
    before = domain.put("WORKER-1", unit, description)
    with pytest.raises(ComputerRefused):
        accounts(domain).preset("clusters/worker-1", renew=True)
    assert list(domain.objects.values()) == [before], reason
    assert not domain.passwords


@pytest.mark.parametrize(
    ("groups", "protected", "words"),
    [
        (["S-1-5-21-1-2-3-1103", "S-1-5-21-1-2-3-512"], [], "Domain Admins"),
        (["S-1-5-21-1-2-3-1103"], ["joiner"], "adminCount is set for joiner"),
        ([], [], "does not show the groups"),
    ],
)
def test_administrators_are_refused(groups: list[str], protected: list[str], words: str) -> None:
    """Also where it cannot be seen what the account is."""
    with pytest.raises(AdministratorRefused, match=words):
        accounts(FakeDomain(groups=groups, protected=protected)).verify()


@pytest.mark.parametrize(
    ("base", "unit", "field"),
    [
        (ROOT, "", "base"),
        (f"OU=Absent,{ROOT}", "", "base"),
        (NODES, f"CN=Computers,{ROOT}", "unit"),
        (NODES, ROOT, "unit"),
        (NODES, f"OU=Absent,{NODES}", "unit"),
    ],
)
def test_places_outside_the_base_are_refused(base: str, unit: str, field: str) -> None:
    """The base bounds everything, and is not the whole domain."""
    with pytest.raises(ConfigurationInvalid, match=f"^{field}:"):
        accounts(FakeDomain(), base=base, unit=unit).verify()


@pytest.mark.parametrize("machine", ["worker-1", "clusters/Worker", "/worker-1", "clusters/", "a/b/c", "clusters/-"])
def test_what_is_no_machine_has_no_account(machine: str) -> None:
    """A name that Kubernetes would refuse makes nothing."""
    domain = FakeDomain()
    with pytest.raises(ConfigurationInvalid, match=r"^machine:"):
        accounts(domain).preset(machine)
    assert not domain.objects


def test_a_dry_run_removes_nothing() -> None:
    """It shows what would be removed."""
    domain = FakeDomain()
    accounts(domain).preset("clusters/worker-1")
    removals = accounts(domain).remove(["clusters/worker-1", "clusters/other"], dry_run=True)
    assert [(each.machine, each.result) for each in removals] == [
        ("clusters/worker-1", "stale"), ("clusters/other", "kept"),
    ]  # fmt: skip
    assert domain.computer("WORKER-1")


def test_machines_are_removed_by_name() -> None:
    """Only ours, and one that fails does not stop the others."""
    domain = FakeDomain()
    for name in ("clusters/worker-1", "clusters/worker-2"):
        accounts(domain).preset(name)
    domain.put("WORKER-3", NODES, "slipway owner=us2 machine=clusters/worker-3")
    domain.with_children.add("guid-of-WORKER-1")
    removals = accounts(domain).remove([f"clusters/worker-{number}" for number in (1, 2, 3)], dry_run=False)
    assert [each.result for each in removals] == ["failed", "removed", "kept"]
    assert sorted(each.name for each in domain.objects.values()) == ["WORKER-1", "WORKER-3"]


@pytest.mark.parametrize(
    ("made", "login", "age", "result"),
    [
        (10, None, 10, "removed"),
        (9, None, 10, "kept"),
        (100, 44, 10, "kept"),  # a login may be written down 14 days late, and a password lasts 30
        (100, 45, 10, "removed"),
        (100, 60, 90, "kept"),
        (100, 90, 90, "removed"),
    ],
)
def test_objects_are_removed_by_age(made: int, login: int | None, age: int, result: str) -> None:
    """What counts is the latest sign of use, and one that was in use has 45 days at least."""
    domain = FakeDomain()
    day = timedelta(days=1)
    domain.put("WORKER-1", NODES, MARK, NOW - made * day, None if login is None else NOW - login * day)
    (removal,) = accounts(domain).remove_unused(age * day, lambda: NOW, dry_run=False)
    assert (removal.machine, removal.result) == ("clusters/worker-1", result)
    assert bool(domain.objects) == (result == "kept")


def test_objects_outside_the_base_and_of_others_are_not_removed_by_age() -> None:
    """They are not even looked at."""
    domain = FakeDomain()
    day = timedelta(days=1000)
    domain.put("A", f"CN=Computers,{ROOT}", "slipway owner=us machine=clusters/a", NOW - day)
    domain.put("B", NODES, "slipway owner=them machine=clusters/b", NOW - day)
    domain.put("C", NODES, "slipway owner=us machine=no", NOW - day)
    assert accounts(domain).remove_unused(timedelta(1), lambda: NOW, dry_run=False) == []
    assert len(domain.objects) == 3


def test_passwords_are_different_and_of_three_classes() -> None:
    """The usual policy of a domain takes each, and no shell or file changes it."""
    passwords = {one_time_password() for _ in range(50)}
    assert len(passwords) == 50
    for password in passwords:
        assert len(password) == PASSWORD_LENGTH
        assert password.isalnum()
        assert any(map(str.islower, password))
        assert any(map(str.isupper, password))
        assert any(map(str.isdigit, password))
