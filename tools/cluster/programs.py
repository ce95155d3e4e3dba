"""Where Kubernetes' own programs are: one multi-call binary, called by the names that everybody knows."""

from __future__ import annotations

from pathlib import Path

from tools.oracles import go_programs

KUBERNETES = "v1.34.10"
_PROGRAM = "kubebox-1.34"
NAMES = ("etcd", "kube-apiserver", "kube-controller-manager", "kubeadm", "kubectl")


def link(directory: Path) -> Path:
    """Make links with the programs' names in the directory; give it, for a PATH.

    Raises:
        EngineMissing: the binary was not built yet.
    """
    binary = go_programs.PROGRAMS[_PROGRAM].require()
    directory.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        (directory / name).symlink_to(binary)
    return directory
