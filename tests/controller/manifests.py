"""The manifests of deploy/kubernetes as plain documents, as far as a controller outside of a pod needs them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

Object = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2] / "deploy" / "kubernetes"
NAMESPACE = "slipway-system"
ACCOUNT = "slipway-controller"


def documents(*folders: str) -> list[Object]:
    """Give the documents of folders below deploy/kubernetes."""
    return [one for folder in folders for one in _of(ROOT / folder)]


def cluster_part() -> list[Object]:
    """Give what a cluster needs before a controller can run beside it: kinds, namespace, roles."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    return [*documents("crd"), namespace, *documents("rbac")]


def _of(folder: Path) -> Iterator[Object]:
    for path in sorted(folder.glob("*.yaml")):
        if path.name != "kustomization.yaml":
            yield from (one for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one)
