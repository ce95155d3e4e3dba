"""The component deploy/kubernetes/namespaced: the controller in some namespaces, with Roles in them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from slipway.controller.__main__ import main as controller
from tests.deploy.kubernetes import rendered

pytestmark = pytest.mark.engine

TEAMS = ("team-a", "team-b")
READS_NOTHING = {"tokenreviews", "subjectaccessreviews"}


@pytest.fixture(params=["overlays/cert-manager", "overlays/own-certificates", *rendered.SEPARATE])
def documents(request: pytest.FixtureRequest, engine: Callable[..., None], tmp_path: Path) -> list[dict[str, Any]]:
    """The example with an overlay of either kind, and KubeadmConfigs that opt in."""
    engine("kubebox-1.34")
    return rendered.example(tmp_path, "overlays/namespaced", overlay=request.param)


def test_nothing_of_the_cluster_can_be_read(documents: list[dict[str, Any]]) -> None:
    """No account of Slipway's has a ClusterRole but for reviews, and for the webhook's own configuration."""
    names = {document["roleRef"]["name"] for document in documents if document["kind"] == "ClusterRoleBinding"}
    roles = {document["metadata"]["name"]: document for document in documents if document["kind"] == "ClusterRole"}
    for name in names - {"slipway-certificates"}:
        for rule in roles[name]["rules"]:
            assert set(rule["resources"]) <= READS_NOTHING
            assert rule["verbs"] == ["create"]
    assert names <= {"slipway-controller-reviews", "slipway-certificates"}
    aggregated = [role for role in roles.values() if "aggregate-to-manager" in str(role["metadata"].get("labels"))]
    assert {resource for role in roles.values() for rule in role["rules"] for resource in rule["resources"]} & {
        "secrets",
        "configmaps",
        "*",
    } == set()
    assert {role["metadata"]["name"] for role in aggregated} == {"slipway-cluster-api"}


def test_every_namespace_has_its_roles(documents: list[dict[str, Any]]) -> None:
    """Those of the controller, bound to its account in its own namespace, and none elsewhere."""
    bindings = [document for document in documents if document["kind"] == "RoleBinding"]
    for name in ("slipway-controller", "slipway-opt-in"):
        by_namespace = {
            document["metadata"]["namespace"]: document for document in bindings if document["metadata"]["name"] == name
        }
        assert set(by_namespace) == set(TEAMS)
        for document in by_namespace.values():
            assert document["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
            (subject,) = document["subjects"]
            assert (subject["name"], subject["namespace"]) == ("slipway-controller", "slipway-system")


def test_the_controller_and_the_webhook_keep_to_them(documents: list[dict[str, Any]]) -> None:
    """By the same list of names."""
    (deployment,) = [
        document
        for document in documents
        if (document["kind"], document["metadata"]["name"]) == ("Deployment", "slipway-controller")
    ]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    controller.make_parser(click.Context(controller)).parse_args(list(container["args"]))
    assert f"--namespaces={','.join(TEAMS)}" in container["args"]
    (webhooks,) = [document["webhooks"] for document in documents if document["kind"] == "MutatingWebhookConfiguration"]
    for webhook in webhooks:
        (expression,) = webhook["namespaceSelector"]["matchExpressions"]
        assert expression == {"key": "kubernetes.io/metadata.name", "operator": "In", "values": list(TEAMS)}
