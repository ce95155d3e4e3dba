"""A role that lacks one verb: said where people look, and got over as soon as somebody gives it."""

import copy
from dataclasses import replace
from typing import Any

import pytest

from tests.controller import manifests
from tests.controller.namespaces import MakeSite
from tests.controller.site import Site, condition, has_data
from tests.controller.together import together

pytestmark = [pytest.mark.engine, pytest.mark.timeout(400)]

ACCOUNT = "lacking"


async def test_a_missing_verb_is_named(sites: MakeSite) -> None:
    """The condition says which verb of which kind; given it, the same controller goes on by itself."""
    await together(("create", "get"), lambda verb: _denied(sites(), "secrets", verb))


async def _denied(site: Site, resource: str, verb: str) -> None:
    await site.apply(*_role(site, without=(resource, verb)))
    kubeconfig = site.environment.kubeconfig_of_account(site.namespace, ACCOUNT)
    lacking = replace(site, kubeconfig=kubeconfig)
    try:
        async with lacking.controller():
            await site.cluster()
            await site.workers("pool", {"provisioner": {"name": "cloud-init"}})
            (config,) = await site.configs(1, lambda one: condition(one).get("reason") == "Forbidden")
            assert f"RBAC does not allow the controller to {verb} Secret" in condition(config)["message"]
            await site.apply(*_role(site))
            (machine,) = await site.machines("pool", 1, has_data)
            assert b"cloud-config" in await site.secret(machine["metadata"]["name"])
    finally:
        for one in _role(site):
            await site.apply({**one, "rules": []} if one["kind"] == "ClusterRole" else one)


def _role(site: Site, *, without: tuple[str, str] = ("", "")) -> list[dict[str, Any]]:
    """Give the controller's role without a verb, under a name of the test's own, and bound to an account of its own."""
    (role,) = [
        copy.deepcopy(document)
        for document in manifests.documents("rbac")
        if document["kind"] == "ClusterRole" and document["metadata"]["name"] == "slipway-controller"
    ]
    name = f"{ACCOUNT}-{site.namespace}"
    role["metadata"] = {"name": name}
    resource, verb = without
    for rule in role["rules"]:
        if resource in rule["resources"]:
            rule["verbs"] = [one for one in rule["verbs"] if one != verb]
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": site.namespace}],
    }
    return [role, binding]
