"""No account has a right that its program does not use: what the API server saw of each service is its role.

The role of the controller, and that of the opt-in, are compared with the calls of all that a controller does in
tests/controller; here are those of the pods of an installation.
"""

import asyncio
from typing import Any

import pytest
import yaml

from tests.deploy.kubernetes import rendered
from tests.deploy.kubernetes.installation import GRPC, NAMESPACE, Installation, deployments, probed, until
from tools.cluster.audit import Call

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900), pytest.mark.xdist_group("pods")]

SEEN_HERE = {"slipway-registry", "slipway-controller-leader", "slipway-certificates"}
ELSEWHERE = {
    "slipway-controller": "tests/controller/test_role.py",
    "slipway-opt-in": "tests/controller/opt_in/test_machines.py",
    "slipway-controller-reviews": "the rules of slipway-controller; tests/controller/test_namespaced.py compares them",
    "slipway-directory": "tests/services/directory_service/test_directory_component.py",
    "slipway-directory-leader": "the rules of slipway-controller-leader, by the same code",
    "slipway-reports": "tests/controller/test_workload_reports.py: for Nodes of a workload cluster",
    "slipway-cluster-api": "Cluster API's own needs, by its contract; bound to no account of ours",
}
_ABSENT, _CONFLICT = 404, 409


def _roles() -> list[dict[str, Any]]:
    texts = [path.read_text(encoding="utf-8") for path in sorted(rendered.ROOT.rglob("*.yaml"))]
    documents = [document for text in texts for document in yaml.load_all(text, Loader=yaml.CSafeLoader) if document]
    objects = [document for document in documents if isinstance(document, dict)]  # the others are patches
    return [document for document in objects if document.get("kind") in {"Role", "ClusterRole"}]


def test_every_role_is_judged() -> None:
    """By calls that a test records; a new role needs one, and no rule has a star but for control planes' kinds."""
    roles = _roles()
    assert {document["metadata"]["name"] for document in roles} == SEEN_HERE | set(ELSEWHERE)
    for document in roles:
        for rule in document["rules"]:
            assert "*" not in rule["verbs"]
            assert "*" not in rule["apiGroups"]
            assert "*" not in rule["resources"] or rule["apiGroups"] == ["controlplane.cluster.x-k8s.io"]
            assert not {"escalate", "bind", "impersonate", "deletecollection"} & set(rule["verbs"])


async def test_what_the_pods_asked_is_what_they_may(installation: Installation) -> None:
    """Registry, leader and Job: installed, a second replica of each come and gone, and nothing left unused."""
    await _come_and_go(installation)
    for role in SEEN_HERE:
        (rule,) = _rules(role)
        granted = {(resource, verb) for resource in rule["resources"] for verb in rule["verbs"]}
        # A lease is renewed some seconds after it began.
        await until(
            lambda role=role, granted=granted: _are_used(installation, role, granted), f"{role} uses its rights"
        )
        calls = _calls(installation, role)
        assert {(call.resource, call.verb) for call in calls if call.resource in rule["resources"]} == granted, role
        if rule.get("resourceNames"):
            assert {call.name for call in calls if call.resource == "secrets"} == set(rule["resourceNames"])


def _calls(installation: Installation, role: str) -> list[Call]:
    account = "slipway-controller" if role == "slipway-controller-leader" else role
    user = f"system:serviceaccount:{NAMESPACE}:{account}"
    return [
        call
        for call in installation.cluster.audit.calls(user=user)
        if call.namespace == NAMESPACE and (call.status < 400 or call.status in {_ABSENT, _CONFLICT})
    ]


async def _are_used(installation: Installation, role: str, granted: set[tuple[str, str]]) -> bool:
    calls = await asyncio.to_thread(_calls, installation, role)
    return granted <= {(call.resource, call.verb) for call in calls}


def _rules(name: str) -> list[dict[str, Any]]:
    (role,) = [document for document in _roles() if (document["kind"], document["metadata"]["name"]) == ("Role", name)]
    rules: list[dict[str, Any]] = role["rules"]
    return rules


async def _come_and_go(installation: Installation) -> None:
    by_name = await asyncio.to_thread(deployments, installation.cluster.client)
    names = ("slipway-registry", "slipway-cloud-init")
    pods = [await asyncio.to_thread(installation.kubelet.run, by_name[name]) for name in names]
    for pod in pods:
        await until(lambda p=pod: probed(installation, p, "readinessProbe"), f"{pod.name} is ready", pod)
    place = f"{pods[1].address}:{GRPC}"
    await until(lambda: _is_announced(installation, place, there=True), "the second provisioner is registered")
    await asyncio.gather(*(asyncio.to_thread(pod.process.stop) for pod in reversed(pods)))
    await until(lambda: _is_announced(installation, place, there=False), "it is gone from the registry")


async def _is_announced(installation: Installation, place: str, *, there: bool) -> bool:
    return (place in await asyncio.to_thread(installation.endpoints)) is there
