"""Which files the generator writes, and whether they are what the contract says now."""

from pathlib import Path

import yaml

from tools.crdgen.definitions import config_definition, template_definition
from tools.docgen import generated_files

FOLDER = Path("deploy/kubernetes/crd")
_HEAD = "# Made by tools/crdgen from proto/slipway/v1alpha1; do not edit.\n"


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
