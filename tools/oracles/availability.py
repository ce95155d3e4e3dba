"""Which engines there are by name, and whether each is on this machine: one place for build and tests."""

from __future__ import annotations

from tools.node.flavours import FLAVOURS
from tools.oracles import browser, cluster_api, directory, go_programs, kube_bench, machineadm, qemu_image, roots
from tools.oracles.failures import EngineMissing
from tools.oracles.go_examples import EXAMPLES

GROUPS: dict[str, tuple[str, ...]] = {
    "roots": tuple(f"root-{name}" for name in roots.ROOTS),
    "checkers": ("root-checkers",),
    "windows": ("root-windows", "root-checkers"),
    "containerd": ("root-node-bookworm", "root-node-trixie", "containerd-2.2", "containerd-config"),
    "cloud-init": ("root-trixie", "root-bookworm"),
    "ignition": ("root-trixie", "root-ignition", "ignition-parsers"),
    "qemu": (qemu_image.NAME,),
    "wine": ("root-wine",),
    "talos": ("talos-1.13", "talos-1.11"),
    "kubeadm": ("kubeadm-1.34", "kubeadm-1.30"),
    "cluster": (
        "kubebox-1.34",
        *(
            part
            for version, manifests in cluster_api.MANIFESTS.items()
            for part in (f"cluster-api-{version}", manifests.name)
        ),
    ),
    **{f"node-{name}": flavour.parts for name, flavour in FLAVOURS.items()},
    "go": (*go_programs.PROGRAMS, *EXAMPLES, kube_bench.NAME, machineadm.NAME),
}

_MANIFESTS = {manifests.name: manifests for manifests in cluster_api.MANIFESTS.values()}
_ALONE = {
    browser.NAME: browser.require,
    directory.NAME: directory.require,
    kube_bench.NAME: kube_bench.require,
    machineadm.NAME: machineadm.require,
    qemu_image.NAME: qemu_image.require,
}
_STORES = {f"node-store-{name}": flavour for name, flavour in FLAVOURS.items()}


def require(name: str) -> None:
    """Does nothing for an engine, or a group of them, that is on this machine.

    Raises:
        EngineMissing: it, or a part of it, is not.
        KeyError: nothing has that name.
    """
    for part in GROUPS.get(name, (name,)):
        if part.startswith("root-"):
            roots.ROOTS[part.removeprefix("root-")].require()
        elif part == "shells":
            roots.require_packages(roots.SHELL_PACKAGES, part)
        elif part in go_programs.PROGRAMS:
            go_programs.PROGRAMS[part].require()
        elif part in EXAMPLES:
            EXAMPLES[part].require()
        elif part in _ALONE:
            _ALONE[part]()
        elif part in _MANIFESTS:
            _MANIFESTS[part].require()
        elif part in _STORES:
            _STORES[part].require()
        else:
            raise KeyError(name)


def present(name: str) -> bool:
    """Whether ``require`` would be content."""
    try:
        require(name)
    except EngineMissing:
        return False
    return True
