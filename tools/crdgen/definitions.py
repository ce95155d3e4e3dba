"""The custom resource definitions of SlipwayConfig and SlipwayConfigTemplate, and the files that hold them.

Names and labels follow Cluster API's bootstrap contract v1beta2 (bootstrap-config.md): the definition's name is the
plural of the kind and its group, and the contract's label lists the versions that keep it.
"""

from pathlib import Path
from typing import Any

import yaml

from slipway.v1alpha1 import spec_pb2 as specpb
from tools.crdgen.schema import Schema, message_schema, prose
from tools.crdgen.status import STATUS
from tools.docgen import generated_files

GROUP = "bootstrap.slipway.dev"
VERSION = "v1alpha1"
LABELS = {"cluster.x-k8s.io/provider": "bootstrap-slipway", "cluster.x-k8s.io/v1beta2": VERSION}

_BOOTSTRAP = ".status.conditions[?(@.type=='BootstrapSucceeded')]"
_COLUMNS = [
    {"name": "Cluster", "type": "string", "jsonPath": r".metadata.labels['cluster\.x-k8s\.io/cluster-name']"},
    {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].status"},
    {"name": "Reason", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].reason"},
    {"name": "Provisioner", "type": "string", "jsonPath": ".status.provisioner.name"},
    {"name": "Format", "type": "string", "jsonPath": ".status.provisioner.format"},
    {"name": "Bytes", "type": "integer", "jsonPath": ".status.userDataBytes"},
    {"name": "Bootstrapped", "type": "string", "jsonPath": f"{_BOOTSTRAP}.status"},
    {"name": "Why", "type": "string", "jsonPath": f"{_BOOTSTRAP}.reason"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    {
        "name": "Message",
        "type": "string",
        "priority": 1,
        "jsonPath": ".status.conditions[?(@.type=='Ready')].message",
    },
    {
        "name": "Bootstrap",
        "type": "string",
        "priority": 1,
        "jsonPath": f"{_BOOTSTRAP}.message",
    },
]
FOLDER = Path("deploy/kubernetes/crd")
_HEAD = "# Made by tools/crdgen from proto/slipway/v1alpha1; do not edit.\n"


def config_definition() -> dict[str, Any]:
    """Give the definition of SlipwayConfig."""
    root = {
        "description": "SlipwayConfig says what one machine is to be, whatever first-boot system it has.",
        "type": "object",
        "properties": {**_type_fields(), "spec": _spec(described=True), "status": STATUS},
    }
    version = {**_version(root), "subresources": {"status": {}}, "additionalPrinterColumns": _COLUMNS}
    return _definition("SlipwayConfig", version)


def template_definition() -> dict[str, Any]:
    """Give the definition of SlipwayConfigTemplate, from which Cluster API makes SlipwayConfigs."""
    texts = {"type": "object", "additionalProperties": {"type": "string", "maxLength": 262144}, "maxProperties": 256}
    template = {
        "description": "What the configs are made from.",
        "type": "object",
        "properties": {
            "metadata": {
                "description": "Labels and annotations of the configs.",
                "type": "object",
                "properties": {"labels": texts, "annotations": texts},
            },
            # The same as in SlipwayConfig, which describes it: kubectl explain slipwayconfig.spec.
            "spec": _spec(described=False),
        },
        "required": ["spec"],
    }
    root = {
        "description": "SlipwayConfigTemplate is what the SlipwayConfigs of many machines are made from.",
        "type": "object",
        "properties": {
            **_type_fields(),
            "spec": {
                "description": "What is wanted.",
                "type": "object",
                "properties": {"template": template},
                "required": ["template"],
            },
        },
        "required": ["spec"],
    }
    age = [{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}]
    return _definition("SlipwayConfigTemplate", {**_version(root), "additionalPrinterColumns": age})


def _spec(*, described: bool) -> Schema:
    descriptor = specpb.MachineBootstrapSpec.DESCRIPTOR
    return {"description": prose(descriptor.full_name), **message_schema(descriptor, described=described)}


def _type_fields() -> Schema:
    return {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}


def _version(root: Schema) -> dict[str, Any]:
    return {"name": VERSION, "served": True, "storage": True, "schema": {"openAPIV3Schema": root}}


def _definition(kind: str, version: dict[str, Any]) -> dict[str, Any]:
    plural = f"{kind.lower()}s"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}", "labels": dict(LABELS)},
        "spec": {
            "group": GROUP,
            "names": {
                "categories": ["cluster-api"],
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
            },
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def texts() -> dict[Path, str]:
    """Give every generated file, by its path below the root."""
    return {
        FOLDER / f"{definition['metadata']['name']}.yaml": _HEAD
        + yaml.safe_dump(definition, sort_keys=False, width=110, allow_unicode=True, default_flow_style=None)
        for definition in (config_definition(), template_definition())
    }


def write(root: Path) -> list[Path]:
    """Write the files that are stale; give their paths."""
    return generated_files.write(root, texts())


def stale(root: Path) -> list[Path]:
    """Give the files that are missing, or differ from what the contract says now."""
    return generated_files.stale(root, texts())
