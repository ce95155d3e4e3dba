"""A bootstrap provider's kind that is played by hand: what the contract asks for, and nothing of Slipway's."""

import base64
from dataclasses import dataclass
from typing import Any

from tools.cluster.client import Client

Object = dict[str, Any]

_GROUP = "bootstrap.test.slipway.dev"
_VERSION = "v1alpha1"
_OPEN: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@dataclass(frozen=True)
class OwnKind:
    """``NameConfig`` and ``NameConfigTemplate``."""

    name: str

    api_version = f"{_GROUP}/{_VERSION}"

    def kind(self, suffix: str) -> str:
        """The kind with this suffix."""
        return self.name + suffix

    def definition(self, suffix: str) -> Object:
        """The definition of a kind, with the label of the contract."""
        kind = self.kind(suffix)
        plural = f"{kind.lower()}s"
        version: Object = {
            "name": _VERSION,
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": _OPEN, "status": _OPEN}}},
        }
        if suffix == "Config":
            version["subresources"] = {"status": {}}
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{_GROUP}", "labels": {"cluster.x-k8s.io/v1beta2": _VERSION}},
            "spec": {
                "group": _GROUP,
                "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()},
                "scope": "Namespaced",
                "versions": [version],
            },
        }

    def aggregated_role(self) -> Object:
        """The role by which core may handle the kinds."""
        lower = self.name.lower()
        return {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": f"{lower}-aggregated", "labels": {"cluster.x-k8s.io/aggregate-to-manager": "true"}},
            "rules": [
                {
                    "apiGroups": [_GROUP],
                    "resources": [f"{lower}configs", f"{lower}configs/status", f"{lower}configtemplates"],
                    "verbs": ["create", "delete", "get", "list", "patch", "update", "watch"],
                }
            ],
        }

    def template(self, name: str, namespace: str) -> Object:
        """A template of configs."""
        return {
            "apiVersion": self.api_version,
            "kind": self.kind("ConfigTemplate"),
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"template": {"spec": {"greeting": "ahoy"}}},
        }

    def is_owned_by_machine(self, config: Object) -> bool:
        """Whether the Machine controller has taken the config over: a provider does nothing before."""
        return any(one["kind"] == "Machine" for one in config["metadata"].get("ownerReferences", []))

    def provide(self, client: Client, config: Object) -> None:
        """Do what a provider does: the Secret, then the status that tells of it."""
        name, namespace = config["metadata"]["name"], config["metadata"]["namespace"]
        owner = {
            "apiVersion": self.api_version,
            "kind": self.kind("Config"),
            "name": name,
            "uid": config["metadata"]["uid"],
            "controller": True,
        }
        labels = {"cluster.x-k8s.io/cluster-name": config["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"]}
        client.create(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "type": "cluster.x-k8s.io/secret",
                "metadata": {"name": name, "namespace": namespace, "labels": labels, "ownerReferences": [owner]},
                "data": {
                    "value": base64.b64encode(b"#cloud-config\nruncmd: [echo ahoy]\n").decode(),
                    "format": base64.b64encode(b"cloud-config").decode(),
                },
            }
        )
        ready = {
            "type": "Ready",
            "status": "True",
            "reason": "ByHand",
            "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        status = {"dataSecretName": name, "initialization": {"dataSecretCreated": True}, "conditions": [ready]}
        client.patch(config, {"status": status}, subresource="status")
