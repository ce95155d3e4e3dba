"""What the service does for a Machine: which objects are there afterwards, and which calls it never makes."""

import asyncio
import base64
from collections.abc import Callable

import pytest
import structlog.testing

from slipway.controller.membership_account import REASON
from slipway.directory.failures import AdministratorRefused, LoginFailed, ServerUnavailable
from slipway.directory_service.accounts_maker import LOGIN_PAUSE
from slipway.directory_service.service import AGAIN_SECONDS, REFUSED_SECONDS
from slipway.directory_service.units import Units
from slipway.kubernetes_api.failures import Forbidden, Unreachable
from tests.services.controller.scene import cluster_object
from tests.services.directory.fake_domain import NODES
from tests.services.directory_service.estate import PASSWORD, Estate, member, values_of
from tests.services.kubernetes_api.memory_api import Call

RACK = f"OU=Rack,{NODES}"


async def test_a_machine_gets_an_account_and_its_secret() -> None:
    """The Secret has the password that the domain has, belongs to the Machine, and cannot be changed."""
    estate = Estate()
    machine = estate.worker()
    await estate.look()
    secret = estate.api.find("Secret", "w-directory")
    values = values_of(secret)
    assert values == {
        "computer-name": b"W",
        "domain": b"corp.example.com",
        "one-time-password": estate.domain.passwords["guid-of-W"].encode(),
    }
    assert secret is not None
    assert secret["immutable"] is True
    assert secret["metadata"]["ownerReferences"] == [
        {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "name": "w", "uid": machine["metadata"]["uid"]}
    ]
    computer = estate.domain.computer("W")
    assert computer is not None
    assert computer.description == "slipway owner=mgmt machine=default/w"


async def test_a_blob_is_made_where_the_method_is_one() -> None:
    """It stands alone in the Secret: the password that the object had before it is gone."""
    estate = Estate()
    estate.worker(spec=member("OfflineBlob"))
    await estate.look()
    assert values_of(estate.api.find("Secret", "w-directory")) == {
        "computer-name": b"W",
        "domain": b"corp.example.com",
        "blob": b"the blob",
    }
    assert estate.blobs == [f"W corp.example.com {NODES}"]


async def test_what_exists_is_never_touched() -> None:
    """Neither a Secret of another program nor the domain; it is asked for again, as an earlier Machine may own it."""
    estate = Estate()
    estate.worker()
    made = estate.api.put({"kind": "Secret", "metadata": {"name": "w-directory"}, "data": {}})
    await estate.look()
    assert estate.connections == 0
    assert estate.api.find("Secret", "w-directory") == made
    estate.api.remove("Secret", "w-directory")
    await estate.look()
    assert estate.connections == 1
    assert estate.service.queue.delayed == 1
    assert AGAIN_SECONDS < REFUSED_SECONDS


@pytest.mark.parametrize("at", ["before", "after"])
async def test_a_lost_write_leads_to_one_valid_secret(at: str) -> None:
    """Whether the Secret was stored or not when the answer was lost: in the end it has the domain's password."""
    estate = Estate()
    estate.worker()

    def lose(call: Call) -> None:
        if call[:2] == ("create", "Secret"):
            raise Unreachable("POST", "Secret")

    setattr(estate.api, at, lose)
    await estate.look()
    setattr(estate.api, at, lambda _: None)
    estate.restart()
    await estate.look()
    values = values_of(estate.api.find("Secret", "w-directory"))
    assert values["one-time-password"].decode() == estate.domain.passwords["guid-of-W"]


async def test_it_never_reads_changes_or_deletes_a_secret() -> None:
    """Its role has no right to: a dry run and a creation are all that it asks for."""
    estate = Estate(cleanup=True)
    machine = estate.worker()
    await estate.look()
    await estate.look()
    estate.put({**machine, "metadata": {**machine["metadata"], "deletionTimestamp": "2030-01-01T00:00:00Z"}})
    estate.gone(machine)
    await estate.look()
    verbs = {verb for verb, kind, _, _ in estate.api.calls if kind == "Secret"}
    assert verbs == {"create_dry", "create"}


NOT_NEEDED: dict[str, Callable[[Estate], object]] = {
    "joins no domain": lambda estate: estate.worker(spec={"provisioner": {"name": "cloud-init"}}),
    "another domain": lambda estate: estate.worker(spec=member(domain="other.example.com")),
    "a keytab is a person's": lambda estate: estate.worker(spec=member("Keytab")),
    "an invalid spec": lambda estate: estate.worker(spec=member("Nonsense")),
    "has its user data": lambda estate: estate.worker(
        bootstrap={
            "configRef": {"apiGroup": "bootstrap.slipway.dev", "kind": "SlipwayConfig", "name": "w"},
            "dataSecretName": "w",
        }
    ),
    "paused": lambda estate: (estate.worker(), estate.put(cluster_object(paused=True))),
    "no control plane yet": lambda estate: (estate.worker(), estate.put(cluster_object(initialized=False))),
    "refers to another config": lambda estate: estate.worker(
        bootstrap={"configRef": {"apiGroup": "bootstrap.slipway.dev", "kind": "SlipwayConfig", "name": "x"}}
    ),
}


@pytest.mark.parametrize("reason", NOT_NEEDED)
async def test_no_account_is_made_without_need(reason: str) -> None:
    """A password lives from its creation until the machine joins, so it is made when user data can be."""
    estate = Estate()
    NOT_NEEDED[reason](estate)
    await estate.look()
    assert estate.connections == 0
    assert estate.api.writes == []


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ({}, NODES),
        ({("default", ""): RACK}, RACK),
        ({("default", "one"): RACK, ("default", ""): NODES}, RACK),
        ({("default", "other"): RACK, ("elsewhere", ""): RACK}, NODES),
    ],
)
async def test_the_unit_is_the_clusters_or_its_namespaces(units: dict[tuple[str, str], str], expected: str) -> None:
    """The most specific of the operator's units counts; without one it is the default."""
    estate = Estate(units=Units(units))
    estate.worker()
    await estate.look()
    computer = estate.domain.computer("W")
    assert computer is not None
    assert computer.place == f"CN=W,{expected}"


async def test_a_unit_outside_of_the_base_is_refused() -> None:
    """Whatever the file of units says, nothing is made outside of the base."""
    estate = Estate(units=Units({("default", ""): "CN=Computers,DC=corp,DC=example,DC=com"}))
    estate.worker()
    await estate.look()
    assert estate.domain.objects == {}
    assert report(estate) == "InvalidConfiguration"


def report(estate: Estate) -> str:
    """Give what is reported to the controller."""
    config_map = estate.api.find("ConfigMap", "w-directory")
    return "" if config_map is None else str(config_map["metadata"]["annotations"][REASON])


@pytest.mark.parametrize(
    "failure",
    [ServerUnavailable("no answer"), LoginFailed("refused"), AdministratorRefused("is in Domain Admins")],
    ids=lambda failure: failure.reason,
)
async def test_a_failure_is_reported_once_and_tried_again(failure: Exception) -> None:
    """To the controller by reason, to people by an event; then another reason replaces it."""
    estate = Estate(failure=failure)
    estate.worker()
    await estate.look()
    await estate.look()
    assert report(estate) == failure.reason  # type: ignore[attr-defined]
    (event,) = estate.api.all("Event")
    assert (event["reason"], event["source"]["component"]) == (failure.reason, "slipway-directory")  # type: ignore[attr-defined]
    assert sum(call[1] == "ConfigMap" for call in estate.api.writes) == 1
    assert estate.service.queue.delayed == 1
    estate.failure = AdministratorRefused("adminCount")
    estate.password = "another"
    await estate.look()
    assert report(estate) == "AdministratorRefused"


async def test_a_refused_password_is_not_tried_by_every_machine() -> None:
    """One connection for all until ten minutes are over, or the file has another password."""
    estate = Estate(failure=LoginFailed("refused"))
    for name in ("w", "x", "y"):
        estate.worker(name)
        await estate.look(name)
    assert estate.connections == 1
    estate.seconds = LOGIN_PAUSE + 1
    await estate.look()
    assert estate.connections == 2
    estate.password, estate.failure = "the new one", None
    await estate.look()
    assert estate.domain.computer("W") is not None


async def test_a_role_without_the_right_is_waited_for() -> None:
    """A failed call of the management cluster ends nothing, and reaches the domain not at all."""
    estate = Estate()
    estate.worker()

    def forbid(call: Call) -> None:
        if call[1] == "Secret":
            raise Forbidden("POST", "Secret")

    estate.api.before = forbid
    await estate.look()
    assert estate.connections == 0
    assert estate.service.queue.delayed == 1


async def test_a_secret_that_somebody_makes_meanwhile_is_reported() -> None:
    """Its password is not valid any more, which only a person can mend."""
    estate = Estate()
    estate.worker()

    def make(call: Call) -> None:
        if call[:2] == ("create", "Secret"):
            estate.api.before = lambda _: None
            estate.api.put({"kind": "Secret", "metadata": {"name": "w-directory"}, "data": {}})

    estate.api.before = make
    await estate.look()
    assert report(estate) == "ComputerExists"


async def test_no_secret_is_written_down() -> None:
    """Neither password, raw or in base64, is in a log, an event or the report."""
    estate = Estate()
    estate.worker()
    estate.worker("x")
    with structlog.testing.capture_logs() as logs:
        await estate.look()
        estate.failure = LoginFailed("refused")
        await estate.look("x")
    text = repr(logs) + repr(estate.api.all("Event")) + repr(estate.api.all("ConfigMap"))
    for password in (PASSWORD, estate.domain.passwords["guid-of-W"]):
        assert password not in text
        assert base64.b64encode(password.encode()).decode() not in text
    assert any(log["event"] == "account made" for log in logs)


async def test_other_machines_computers_are_not_touched() -> None:
    """A computer with the name that another Machine made is refused, and reported."""
    estate = Estate()
    estate.domain.put("W", NODES, "slipway owner=mgmt machine=elsewhere/w")
    estate.worker()
    await estate.look()
    assert report(estate) == "ComputerNotOwned"
    assert "guid-of-W" not in estate.domain.passwords


async def test_one_defect_does_not_stop_the_others() -> None:
    """An error of ours with one Machine is logged by its class alone, and the next one gets its account."""
    estate = Estate()
    made = asyncio.Event()

    def fail(call: Call) -> None:
        if call[3] == "w-directory":
            raise RuntimeError(PASSWORD)

    def note(call: Call) -> None:
        if call == ("create", "Secret", "default", "x-directory"):
            made.set()

    estate.api.before, estate.api.after = fail, note
    for informer in estate.service.watches.informers:
        informer.synced.set()
    with structlog.testing.capture_logs() as logs:
        leader = asyncio.ensure_future(estate.service.lead(None))
        estate.worker()
        estate.worker("x")
        async with asyncio.timeout(10):
            await made.wait()
        leader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leader
    assert any(log["event"] == "machine failed" for log in logs)
    assert PASSWORD not in repr(logs)
