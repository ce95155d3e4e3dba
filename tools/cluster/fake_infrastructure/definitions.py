"""The kinds of the fake infrastructure: their definitions and the roles that core and control plane need on them."""

from __future__ import annotations

from typing import Any

GROUP = "infrastructure.fake.slipway.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"
CLUSTER = "FakeCluster"
MACHINE = "FakeMachine"
MACHINE_POOL = "FakeMachinePool"
TEMPLATES = ("FakeClusterTemplate", "FakeMachineTemplate")
KINDS = (CLUSTER, MACHINE, MACHINE_POOL, *TEMPLATES)
NAMESPACE = "fake-infrastructure"
SERVICE_ACCOUNT = (NAMESPACE, "manager")
API_SERVERS = "api-servers"

Object = dict[str, Any]
_OPEN: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def plural(kind: str) -> str:
    """The plural, by the rule by which core finds a definition without asking."""
    return f"{kind.lower()}s"


def documents() -> list[Object]:
    """Everything to be applied before the provider starts."""
    return [*(_definition(kind) for kind in KINDS), _aggregated_role(), *_own_role()]


def api_server(cluster: str, *, host: str, port: int) -> Object:
    """The entry that says where the API server of a cluster is, as a load balancer's configuration would.

    Applied by an owner of its own, it stays beside the entries of other clusters.
    """
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": API_SERVERS, "namespace": NAMESPACE},
        "data": {cluster: f"{host}:{port}"},
    }


def _definition(kind: str) -> Object:
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural(kind), "singular": kind.lower()}
    version: Object = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": _OPEN, "status": _OPEN}}},
    }
    if kind not in TEMPLATES:
        version["subresources"] = {"status": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural(kind)}.{GROUP}", "labels": {"cluster.x-k8s.io/v1beta2": VERSION}},
        "spec": {
            "group": GROUP,
            "names": {**names, "categories": ["cluster-api"]},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def _aggregated_role() -> Object:
    return _role(
        "fake-infrastructure-for-managers",
        [{"apiGroups": [GROUP], "resources": ["*"], "verbs": ["*"]}],
        labels={
            "cluster.x-k8s.io/aggregate-to-manager": "true",
            "kubeadm.controlplane.cluster.x-k8s.io/aggregate-to-manager": "true",
        },
    )


def _own_role() -> list[Object]:
    namespace, name = SERVICE_ACCOUNT
    role = _role(
        "fake-infrastructure",
        [
            {"apiGroups": [GROUP], "resources": ["*"], "verbs": ["get", "list", "watch", "patch"]},
            {
                "apiGroups": ["cluster.x-k8s.io"],
                "resources": ["machines", "machinepools"],
                "verbs": ["get", "list", "watch"],
            },
            {"apiGroups": [""], "resources": ["secrets", "configmaps"], "verbs": ["get"]},
        ],
    )
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "fake-infrastructure"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "fake-infrastructure"},
        "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": name}],
    }
    return [role, binding]


def _role(name: str, rules: list[Object], *, labels: dict[str, str] | None = None) -> Object:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name, "labels": labels or {}},
        "rules": rules,
    }
