"""Documents of a cluster whose ClusterClass has patches, and what their machines hold."""

import json
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from slipway.bootstrapper.importers.manifest_set import ManifestMachine
from slipway.contract.source_position import SourceError
from tests.bootstrapper.importers.manifest_texts import CLASS, TOPOLOGY, by_name, manifests

CONTROL_PLANE = {
    "apiVersion": "controlplane.cluster.x-k8s.io/v1beta2",
    "kind": "KubeadmControlPlaneTemplate",
    "matchResources": {"controlPlane": True},
}
FILES = "/spec/template/spec/kubeadmConfigSpec/files"
WORKER_TEMPLATE = """
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: w}
spec: {template: {spec: {files: [{path: /own, content: own}]}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DockerMachineTemplate
metadata: {name: w}
spec: {template: {spec: {}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DockerMachineTemplate
metadata: {name: cp}
spec: {template: {spec: {}}}
"""
CLASS_PARTS = CLASS.rpartition("---")[0]


def workers(*names: str, pools: bool = False) -> dict[str, Any]:
    """Give a selector of workers."""
    field = "machinePoolClass" if pools else "machineDeploymentClass"
    resources = {field: {"names": list(names)}}
    return {
        "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2",
        "kind": "KubeadmConfigTemplate",
        "matchResources": resources,
    }


def patch(selector: dict[str, Any], *operations: dict[str, Any], enabled_if: str = "") -> dict[str, Any]:
    """Give a patch."""
    found = {"name": "p", "definitions": [{"selector": selector, "jsonPatches": list(operations)}]}
    return {**found, "enabledIf": enabled_if} if enabled_if else found


def add_file(content: Any, path: str = FILES, **origin: Any) -> dict[str, Any]:
    """Give an operation that sets files."""
    value = {"valueFrom": origin} if origin else {"value": [{"path": "/new", "content": content}]}
    return {"op": "add", "path": path, **value}


def text_of(patches: list[Any], variables: list[Any] = [], topology: str = TOPOLOGY) -> str:  # noqa: B006 - read only
    """Give the documents of a cluster whose class has patches."""
    with_patches = CLASS_PARTS.replace(
        "metadata: {name: quick}\nspec:\n",
        f"metadata: {{name: quick}}\nspec:\n  patches: {json.dumps(patches)}\n  variables: {json.dumps(variables)}\n",
    )
    return topology + with_patches + WORKER_TEMPLATE


def machines(*arguments: Any, **further: Any) -> dict[str, ManifestMachine]:
    """Give the machines by name."""
    return by_name(manifests(text_of(*arguments, **further)))


def contents(machine: ManifestMachine) -> dict[str, str]:
    """Give the texts of a machine's files by path."""
    found: dict[str, str] = {}
    pending: list[Any] = [MessageToDict(machine.spec)]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            if "path" in each and isinstance(each.get("content"), dict):
                found[each["path"]] = str(next(iter(each["content"].values()))).removesuffix("\n")
            pending.extend(each.values())
        elif isinstance(each, list):
            pending.extend(each)
    return found


def problem(*arguments: Any, **further: Any) -> str:
    """Give the only problem of a set."""
    with pytest.raises(SourceError) as caught:
        machines(*arguments, **further)
    assert len(caught.value.problems) == 1, caught.value
    return f"{caught.value.problems[0].path}: {caught.value.problems[0].message}"
