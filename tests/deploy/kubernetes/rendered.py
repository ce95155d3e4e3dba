"""The manifests of deploy/kubernetes as `kubectl kustomize` renders them."""

import functools
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tools.cluster import programs

Object = dict[str, Any]

ROOT = Path(__file__).resolve().parents[3] / "deploy" / "kubernetes"
SEPARATE = ("overlays/separate/cert-manager", "overlays/separate/own-certificates")
OVERLAYS = ("overlays/cert-manager", "overlays/own-certificates", *SEPARATE, "clusterctl")


@functools.cache
def text(folder: str) -> str:
    """Give what a folder renders to.

    Raises:
        EngineMissing: there is no kubectl on this machine.
    """
    return _kustomize(ROOT / folder)


def composed(place: Path, *, overlay: str, components: Sequence[str]) -> list[Object]:
    """Give what an operator's own Kustomization of an overlay and components renders to; errors as of ``text``."""
    root = place / "kubernetes"
    shutil.copytree(ROOT, root)
    own = root / "own"
    own.mkdir()
    content = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [f"../{overlay}"],
        "components": [f"../{component}" for component in components],
    }
    (own / "kustomization.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    return parsed(_kustomize(own))


def example(place: Path, folder: str, *, overlay: str) -> list[Object]:
    """Give what an example of an operator's own files renders to, built on an overlay; errors as of ``text``."""
    root = place / "kubernetes"
    shutil.copytree(ROOT, root)
    own = root / folder / "kustomization.yaml"
    content = own.read_text(encoding="utf-8")
    assert "../cert-manager" in content
    own.write_text(content.replace("../cert-manager", f"../../{overlay}"), encoding="utf-8")
    return parsed(_kustomize(root / folder))


def _kustomize(folder: Path) -> str:
    with tempfile.TemporaryDirectory() as place:
        kubectl = programs.link(Path(place) / "bin") / "kubectl"
        done = subprocess.run([kubectl, "kustomize", folder], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@functools.cache
def documents(folder: str) -> list[Object]:
    """Give the documents that a folder renders to, which nobody may change; errors as of ``text``."""
    return parsed(text(folder))


def parsed(rendered: str) -> list[Object]:
    """Read documents, by the parser in C: with the kinds in them they are long."""
    return [one for one in yaml.load_all(rendered, Loader=yaml.CSafeLoader) if one]


def of_kind(folder: str, kind: str) -> dict[str, Object]:
    """Give those of one kind, by name."""
    return {document["metadata"]["name"]: document for document in documents(folder) if document["kind"] == kind}
