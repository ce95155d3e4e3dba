"""The manifests of deploy/kubernetes as `kubectl kustomize` renders them."""

import functools
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import yaml

from tools.cluster import programs

Object = dict[str, Any]

ROOT = Path(__file__).resolve().parents[3] / "deploy" / "kubernetes"
OVERLAYS = ("overlays/cert-manager", "overlays/own-certificates", "clusterctl")


@functools.cache
def text(folder: str) -> str:
    """Give what a folder renders to.

    Raises:
        EngineMissing: there is no kubectl on this machine.
    """
    with tempfile.TemporaryDirectory() as place:
        kubectl = programs.link(Path(place) / "bin") / "kubectl"
        done = subprocess.run([kubectl, "kustomize", ROOT / folder], check=False, capture_output=True, text=True)
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
    return {one["metadata"]["name"]: one for one in documents(folder) if one["kind"] == kind}
