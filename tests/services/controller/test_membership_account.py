"""The condition about a machine's computer account, from the objects that are there."""

import pytest

from slipway.controller.membership_account import REASON, REASONS
from slipway.kubernetes_api.resources import Json
from tests.services.controller.scene import Scene

MEMBER: Json = {
    "provisioner": {"name": "cloud-init"},
    "target": {"osFamily": "Linux", "distribution": "debian"},
    "os": {"directory": {"domain": "corp.example.com", "method": "OneTimePassword"}},
}
TYPE = "DirectoryAccountReady"
PASSWORD = {"one-time-password": b"kW7aQ2xvB9mLp4Zt"}


def report(scene: Scene, reason: str) -> None:
    """Put in what slipway-directory reports."""
    scene.api.put({"kind": "ConfigMap", "metadata": {"name": "w-directory", "annotations": {REASON: reason}}})


async def test_it_is_absent_where_no_domain_is_joined(scene: Scene) -> None:
    """Neither a waiting nor a ready config of a machine that joins no domain has it."""
    scene.worker()
    await scene.reconcile()
    assert scene.condition(type_=TYPE) == ("", "", "")


async def test_it_is_false_until_the_account_is_there_and_true_afterwards(scene: Scene) -> None:
    """Ready waits for the same; the account's Secret is missed by name."""
    scene.worker(spec=MEMBER)
    await scene.reconcile()
    status, reason, message = scene.condition(type_=TYPE)
    assert (status, reason) == ("False", "WaitingForDirectoryAccount")
    assert "w-directory" in message
    scene.secret("w-directory", PASSWORD)
    await scene.reconcile()
    assert scene.condition(type_=TYPE) == ("True", "Available", "")
    assert scene.condition()[0] == "True"


async def test_another_key_than_the_methods_is_no_account(scene: Scene) -> None:
    """A Secret with a blob is of no use to a machine that joins by a password."""
    scene.secret("w-directory", {"blob": b"x"})
    scene.worker(spec=MEMBER)
    await scene.reconcile()
    assert scene.condition(type_=TYPE)[:2] == ("False", "WaitingForDirectoryAccount")
    assert "key one-time-password" in scene.condition(type_=TYPE)[2]


async def test_the_services_reason_is_taken_over(scene: Scene) -> None:
    """It is the reason of this condition; Ready still names what is waited for."""
    scene.worker(spec=MEMBER)
    report(scene, "LoginFailed")
    await scene.reconcile()
    assert scene.condition(type_=TYPE)[:2] == ("False", "LoginFailed")
    assert scene.condition()[:2] == ("False", "WaitingForDirectoryAccount")


@pytest.mark.parametrize("reason", ["", "Anything", "x" * 300])
async def test_no_other_text_of_the_report_is_taken_over(scene: Scene, reason: str) -> None:
    """A program that may write ConfigMaps of the namespace writes no text into a condition."""
    scene.worker(spec=MEMBER)
    report(scene, reason)
    await scene.reconcile()
    assert scene.condition(type_=TYPE)[:2] == ("False", "WaitingForDirectoryAccount")


async def test_it_is_independent_of_what_else_is_waited_for(scene: Scene) -> None:
    """With the account there and another Secret missing, this condition is True."""
    scene.worker(spec=MEMBER | {"os": {**MEMBER["os"], "files": [_FILE]}})
    scene.secret("w-directory", PASSWORD)
    await scene.reconcile()
    assert scene.condition()[:2] == ("False", "WaitingForSecret")
    assert scene.condition(type_=TYPE)[:2] == ("True", "Available")


async def test_the_secret_of_an_earlier_machine_is_not_used(scene: Scene) -> None:
    """It belongs to a Machine of the same name with another uid, and is about to go: its password was used."""
    owner = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "name": "w", "uid": "earlier"}
    scene.worker(spec=MEMBER)
    secret = scene.secret("w-directory", PASSWORD)
    scene.api.put({**secret, "metadata": {**secret["metadata"], "ownerReferences": [owner]}})
    await scene.reconcile()
    assert scene.condition(type_=TYPE)[:2] == ("False", "WaitingForDirectoryAccount")
    assert scene.api.find("Secret", "w") is None


def test_the_reasons_are_those_of_the_service() -> None:
    """The page of reasons names each of them."""
    assert {"LoginFailed", "AdministratorRefused", "ComputerNotOwned", "InvalidConfiguration"} <= REASONS


_FILE = {"path": "/etc/one", "content": {"secretRef": {"name": "mine", "key": "k"}}}
