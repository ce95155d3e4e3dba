"""The page of the real engines names all of them, in the versions that are built."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.oracles import availability, containerd, roots
from tools.oracles.build import BUILDERS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/engines.md").read_text(encoding="utf-8")
# Whose versions a reader wants to know; the others come along.
TOLD = re.compile(
    r"^(?:require )?\t?(?:github.com/(?:siderolabs/talos/pkg/machinery|coreos/ignition|coreos/ignition/v2|coreos/butane"
    r"|containerd/containerd/v2|k3s-io/cluster-api-k3s)|k8s.io/kubernetes|sigs.k8s.io/cluster-api) v(\S+)",
    re.MULTILINE,
)
JUDGES = (
    "cloud-init", "ignition", "qemu", "talos", "kubeadm", "windows", "checkers", "containerd", "kubeadm-provider",
    "k3s-provider", "directory", "browser",
)  # fmt: skip
MODULES = ("containerd", "containerd_daemon", "ignition", "k3s_provider", "kubebox", "kubeadm_provider", "talos")
PACKAGES = {"trixie": ("cloud-init", "systemd"), "bookworm": ("cloud-init", "systemd"), "machine": ("ignition",)}


def test_every_engine_is_on_the_page() -> None:
    """What judges rendered documents is named, and what is named can be built."""
    _, _, section = PAGE.partition("## What is built")
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert named <= set(BUILDERS)
    assert {name for group in JUDGES for name in availability.GROUPS.get(group, (group,))} - named == set()


def test_the_versions_of_modules_are_those_that_are_pinned() -> None:
    """Each version of a go.mod that a reader wants to know stands on the page."""
    files = [file for folder in MODULES for file in sorted((ROOT / "tools/oracles/go" / folder).glob("go*.mod"))]
    pinned = {version for file in files for version in TOLD.findall(file.read_text(encoding="utf-8"))}
    assert len(pinned) >= 9
    assert sorted(version for version in pinned if version not in PAGE) == []
    assert sorted(version for version in containerd.DAEMONS if version not in PAGE) == []


@pytest.mark.engine
@pytest.mark.parametrize("root", PACKAGES)
def test_the_versions_of_packages_are_those_of_the_roots(root: str, engine: Callable[..., None]) -> None:
    """The roots hold the packages in the versions that the page says."""
    engine(f"root-{root}")
    status = (roots.ROOTS[root].require() / "var/lib/dpkg/status").read_text(encoding="utf-8")
    for package in PACKAGES[root]:
        digits = r"\d+" if package == "systemd" else r"\d+\.\d+"
        pattern = rf"^Package: {package}\n(?:.+\n)*?Version: ({digits})"
        (version,) = re.findall(pattern, status, re.MULTILINE)
        assert re.search(rf"\b{re.escape(version)}\b", PAGE), (package, version)


def test_the_requirements_of_windows_are_pinned_by_hash() -> None:
    """What is installed to check Windows user data is named with its hashes, and with no address."""
    text = (ROOT / "tools/oracles/windows-requirements.txt").read_text(encoding="utf-8")
    pins = re.split(r"^(?=[a-z0-9])", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE), flags=re.MULTILINE)[1:]
    assert pins
    assert [pin for pin in pins if not re.match(r"\S+==\S+ \\\n +--hash=sha256:[0-9a-f]{64}", pin)] == []
    assert "://" not in text
