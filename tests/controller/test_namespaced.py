"""A controller of some namespaces: it does all of its work by Roles in them, and reads nothing of any other."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slipway.cli.processes import LOOPBACK
from slipway.rpc.addresses import free_port
from tests.controller import manifests
from tests.controller.namespaces import MakeSite
from tests.controller.site import OURS, Object, Site, has_data
from tests.controller.test_processes import Processes

pytestmark = [pytest.mark.engine, pytest.mark.timeout(500)]

SPEC = {"provisioner": {"name": "cloud-init"}}
_ABSENT, _CONFLICT = 404, 409
_ASKS_NOTHING = {"tokenreviews", "subjectaccessreviews", ""}
"""Reviews, and what the server can do at all; neither names an object."""


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """End with the test."""
    made = Processes(tmp_path)
    yield made
    made.end()


def _of_namespace(site: Site, account: str) -> list[Object]:
    """Give the roles of a namespace, and that of a leader, bound to an account of the test's own."""
    folders = ("namespaced/namespace", "namespaced/namespace/opt-in")
    leader = [
        document
        for document in manifests.documents("rbac")
        if document["metadata"]["name"] == "slipway-controller-leader"
    ]
    made = [*manifests.documents(*folders), *leader]
    for document in made:
        assert document["kind"] in {"Role", "RoleBinding"}
        document["metadata"]["namespace"] = site.namespace
        for subject in document.get("subjects", ()):
            subject["name"] = account
    return made


def _start(processes: Processes, kubeconfig: Path, *sites: Site) -> None:
    processes.start(
        "controller",
        "slipway.controller",
        f"--listen-address={LOOPBACK}:{free_port()}",
        "--embedded-provisioners=cloud-init",
        f"--kubeconfig={kubeconfig}",
        f"--namespaces={','.join(site.namespace for site in sites)}",
        f"--lease-namespace={sites[0].namespace}",
        f"--workload-servers={LOOPBACK}/8",
    )


async def test_two_namespaces_and_nothing_else(sites: MakeSite, processes: Processes) -> None:
    """Machines of both get their data; the API server saw no call beyond them, and refused none."""
    first, second, other = sites(), sites(), sites()
    account = f"namespaced-{first.namespace}"
    kubeconfig = first.environment.kubeconfig_of_account(manifests.NAMESPACE, account)
    for site in (first, second):
        await site.apply(*_of_namespace(site, account))
    for site in (first, second, other):
        await site.cluster()
        await site.workers("pool", SPEC)
    start = first.environment.audit.position
    _start(processes, kubeconfig, first, second)
    for site in (first, second):
        await site.machines("pool", 1, has_data)
    await first.patch("cluster.x-k8s.io/v1beta2", "MachineDeployment", "pool", {"spec": {"replicas": 2}})
    await first.machines("pool", 2, has_data)
    user = f"system:serviceaccount:{manifests.NAMESPACE}:{account}"
    calls = first.environment.audit.calls(since=start, user=user)
    assert {call.namespace for call in calls if call.resource == "secrets"} == {first.namespace, second.namespace}
    beyond = [call for call in calls if call.namespace not in {first.namespace, second.namespace}]
    assert [call for call in beyond if call.resource not in _ASKS_NOTHING] == []
    assert [call for call in calls if call.status >= 400 and call.status not in {_ABSENT, _CONFLICT}] == []
    (config,) = await other.all(OURS, "SlipwayConfig")
    assert not config.get("status"), "nobody has looked at it"


async def test_a_role_that_is_missing_is_told(sites: MakeSite, processes: Processes) -> None:
    """A namespace without its Role is tried again and again, and the log says so; nothing is done by halves."""
    first, second = sites(), sites()
    account = f"namespaced-{first.namespace}"
    kubeconfig = first.environment.kubeconfig_of_account(manifests.NAMESPACE, account)
    await first.apply(*_of_namespace(first, account))
    for site in (first, second):
        await site.cluster()
        await site.workers("pool", SPEC)
    _start(processes, kubeconfig, first, second)

    async def log() -> str:
        return await asyncio.to_thread(processes.log, "controller")

    place = f'"where": "secrets in namespace {second.namespace}"'
    await first.eventually(log, lambda text: place in text and '"reason": "Forbidden"' in text)
    await second.apply(*_of_namespace(second, account))
    for site in (first, second):
        await site.machines("pool", 1, has_data)


def test_the_roles_of_a_namespace_are_those_of_the_cluster() -> None:
    """One list of rights, written twice because a Role cannot point to another one; the reviews are apart."""
    assert _rules("ClusterRole", "slipway-controller", "rbac") == [
        *_rules("Role", "slipway-controller", "namespaced/namespace"),
        *_rules("ClusterRole", "slipway-controller-reviews", "namespaced"),
    ]
    opted_in = _rules("Role", "slipway-opt-in", "namespaced/namespace/opt-in")
    assert opted_in == _rules("ClusterRole", "slipway-opt-in", "opt-in")


def _rules(kind: str, name: str, folder: str) -> list[Any]:
    (role,) = [
        document
        for document in manifests.documents(folder)
        if (document["kind"], document["metadata"]["name"]) == (kind, name)
    ]
    rules: list[Any] = role["rules"]
    return rules
