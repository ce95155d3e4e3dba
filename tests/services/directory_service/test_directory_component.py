"""The manifests of the service: its rights are the calls that it makes, and its settings are the program's."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from slipway.directory.failures import ServerUnavailable
from slipway.directory_service.server import NAME
from slipway.kubernetes_api.resources import CONFIG_MAPS, EVENTS, SECRETS, Resource
from tests.services.directory_service.estate import Estate

FOLDER = Path(__file__).resolve().parents[3] / "deploy/kubernetes"
VERBS = {"create": "create", "create_dry": "create", "merge": "patch"}


def objects(kind: str, folder: str = "directory") -> Iterator[dict[str, Any]]:
    """Give the objects of a kind."""
    for path in sorted((FOLDER / folder).glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            if isinstance(document, dict) and document["kind"] == kind:
                yield document


def pod() -> dict[str, Any]:
    """Give the pod."""
    (deployment,) = objects("Deployment")
    spec: dict[str, Any] = deployment["spec"]["template"]["spec"]
    return spec


async def test_its_role_is_what_it_asks_for() -> None:
    """Each call of a success, a failure and another failure has its right; no right is left, least of all to read."""
    estate = Estate(cleanup=True)
    estate.worker()
    await estate.look()
    estate.worker("x")
    for reason in ("one", "another"):
        estate.failure = ServerUnavailable(reason)
        await estate.look("x")
        estate.restart()
    resources: dict[str, Resource] = {"Secret": SECRETS, "ConfigMap": CONFIG_MAPS, "Event": EVENTS}
    used = {(resources[kind].plural, VERBS[verb]) for verb, kind, _, _ in estate.api.calls}
    watched = {(informer.resource.plural, verb) for informer in estate.service.watches.informers for verb in _FOLLOWED}
    (role,) = objects("ClusterRole")
    granted = {(name, verb) for rule in role["rules"] for name in rule["resources"] for verb in rule["verbs"]}
    assert granted == used | watched
    assert ("secrets", "create") in granted
    groups = {name: group for rule in role["rules"] for name in rule["resources"] for group in rule["apiGroups"]}
    followed = {informer.resource.plural: informer.resource.group for informer in estate.service.watches.informers}
    assert followed.items() <= groups.items()


_FOLLOWED = ("list", "watch")


def test_the_leader_may_do_what_the_controllers_may() -> None:
    """They share the code of the election."""
    (own,) = objects("Role")
    controllers = [role for role in objects("Role", "rbac") if role["metadata"]["name"] == "slipway-controller-leader"]
    assert own["rules"] == controllers[0]["rules"]


def test_its_account_is_the_one_of_roles_and_policies() -> None:
    """A policy for another name would restrict no account."""
    (account,) = objects("ServiceAccount")
    place = account["metadata"]
    assert pod()["serviceAccountName"] == place["name"]
    for binding in [*objects("ClusterRoleBinding"), *objects("RoleBinding")]:
        assert binding["subjects"] == [{"kind": "ServiceAccount", **place}]
    policies = list(objects("ValidatingAdmissionPolicy"))
    restricted = {resource for policy in policies for rule in _rules(policy) for resource in rule["resources"]}
    (role,) = objects("ClusterRole")
    written = {name for rule in role["rules"] for name in rule["resources"] if set(rule["verbs"]) - set(_FOLLOWED)}
    assert restricted == (written - {"events"}) | {"leases"}
    for policy in policies:
        (condition,) = policy["spec"]["matchConditions"]
        name = f"system:serviceaccount:{place['namespace']}:{place['name']}"
        assert condition["expression"] == f"request.userInfo.username == '{name}'"
        assert policy["spec"]["failurePolicy"] == "Fail"
    policy_names = {binding["spec"]["policyName"] for binding in objects("ValidatingAdmissionPolicyBinding")}
    assert policy_names == {policy["metadata"]["name"] for policy in policies}


def _rules(policy: dict[str, Any]) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = policy["spec"]["matchConstraints"]["resourceRules"]
    return rules


def test_its_lease_has_a_name_that_the_policy_allows() -> None:
    """The prefix of the policy is the program's."""
    text = (FOLDER / "directory/policies.yaml").read_text(encoding="utf-8")
    assert f"startsWith('{NAME}.')" in text


def test_no_password_is_in_a_variable() -> None:
    """It is a file that the group of the pod reads, and the ConfigMap of variables is no place for it."""
    (container,) = pod()["containers"]
    assert {variable["name"] for variable in container["env"]} == {"POD_NAMESPACE"}
    assert container["envFrom"] == [{"configMapRef": {"name": "slipway-directory"}}]
    (secret,) = [volume["secret"] for volume in pod()["volumes"] if "secret" in volume]
    assert secret["defaultMode"] == 0o440
