"""Cluster API's manifests as its published modules hold them, put together once by kubectl's own kustomize.

The providers' programs are built from the same modules (``go_programs``), so that what is applied to an API server
and what then runs against it are of one version.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tools.oracles import cache, go_programs
from tools.oracles.failures import EngineBroken, EngineMissing

KUBECTL = "kubebox-1.34"
_MODULE = "sigs.k8s.io/cluster-api"
_IN_MEMORY = "sigs.k8s.io/cluster-api/test"
_SOURCES = Path(__file__).with_name("go")


@dataclass(frozen=True, slots=True)
class Source:
    """Where the manifests of a provider are: a module and a folder in it."""

    module: str
    folder: str


@dataclass(frozen=True, slots=True)
class Manifests:
    """The manifests of one release; ``sources`` by the provider's name in ``--parts`` of its program."""

    version: str
    folder: str
    sources: dict[str, Source]

    @property
    def name(self) -> str:
        """What ``tools.oracles.build`` calls them."""
        return f"cluster-api-{self.version}-manifests"

    @property
    def path(self) -> Path:
        """Where they are, or will be; the name changes with the pinned modules."""
        pins = (_SOURCES / self.folder / "go.mod").read_bytes() + repr(sorted(self.sources.items())).encode()
        return cache.directory() / "manifests" / f"{self.name}-{hashlib.sha256(pins).hexdigest()[:12]}.json"

    def require(self) -> dict[str, list[dict[str, Any]]]:
        """The documents by provider, as published.

        Raises:
            EngineMissing: they were not built yet.
        """
        if not self.path.is_file():
            raise EngineMissing(self.name)
        documents: dict[str, list[dict[str, Any]]] = json.loads(self.path.read_bytes())
        return documents


_KUBEADM = {
    "kubeadm-bootstrap": Source(_MODULE, "bootstrap/kubeadm/config/default"),
    "kubeadm-control-plane": Source(_MODULE, "controlplane/kubeadm/config/default"),
}
MANIFESTS = {
    made.version: made
    for made in (
        Manifests(
            "1.12",
            "cluster_api_1_12",
            {
                "core": Source(_MODULE, "config/default"),
                **_KUBEADM,
                "in-memory": Source(_IN_MEMORY, "infrastructure/docker/config/default"),
            },
        ),
        Manifests("1.14", "cluster_api_1_14", {"core": Source(_MODULE, "core/config/default"), **_KUBEADM}),
    )
}


def build(manifests: Manifests) -> Path:
    """Put the manifests together unless they are there; a few seconds."""
    with cache.locked(manifests.name):
        if not manifests.path.is_file():
            documents = {name: _kustomized(manifests, source) for name, source in manifests.sources.items()}
            manifests.path.parent.mkdir(parents=True, exist_ok=True)
            for old in manifests.path.parent.glob(f"{manifests.name}-*.json"):
                old.unlink()
            beside = manifests.path.with_suffix(".building")
            beside.write_text(json.dumps(documents))
            beside.rename(manifests.path)
    return manifests.path


def _kustomized(manifests: Manifests, source: Source) -> list[dict[str, Any]]:
    folder = _module(manifests, source.module) / source.folder
    kubectl = go_programs.PROGRAMS[KUBECTL].require()
    output = _run(["kubectl", "kustomize", str(folder)], executable=kubectl, cwd=folder)
    return [document for document in yaml.load_all(output, yaml.CSafeLoader) if document]


def _module(manifests: Manifests, module: str) -> Path:
    go = shutil.which("go")
    if go is None:
        raise EngineMissing(manifests.name, "no Go toolchain on PATH")
    folder = _SOURCES / manifests.folder
    _run([go, "mod", "download", module], executable=Path(go), cwd=folder)
    return Path(_run([go, "list", "-m", "-f", "{{.Dir}}", module], executable=Path(go), cwd=folder).decode().strip())


def _run(command: list[str], *, executable: Path, cwd: Path) -> bytes:
    environment = {**os.environ, "GOFLAGS": "-mod=readonly"}
    done = subprocess.run(command, executable=executable, cwd=cwd, env=environment, check=False, capture_output=True)
    if done.returncode:
        raise EngineBroken(f"{' '.join(command)}: {done.stderr.decode(errors='replace')[-2000:]}")
    return done.stdout
