"""Reads which flags a kubelet has in its source, for versions whose programs are not built.

The flags are registered in a few files by calls with their names as literals. What is read for a version whose program
is built must be what that program says; program_flags.py compares the two.
"""

import json
import re
import subprocess
import tempfile
from pathlib import Path

SOURCES = {
    "1.28": "1.28.15",
    "1.29": "1.29.15",
    "1.30": "1.30.5",
    "1.31": "1.31.13",
    "1.32": "1.32.9",
    "1.33": "1.33.5",
    "1.34": "1.34.10",
    "1.35": "1.35.0",
}
"""The version whose source is read, by minor version."""

_EVERYWHERE = frozenset({"help", "log-flush-frequency", "version"})
"""Flags that are registered under constants, or by a library, in all of these versions."""

_OPTIONS = (
    "options.go", "globalflags.go", "globalflags_linux.go", "globalflags_providers.go", "container_runtime.go",
)  # fmt: skip
_NOT_BUILT = frozenset({"globalflags_other.go", "globalflags_providerless.go"})
"""Files that no kubelet for Linux has, as it is published."""

_VARIABLE = re.compile(r'\bfs\.[A-Za-z0-9]*VarP?\(\s*[^,"]*,\s*"([A-Za-z0-9_-]+)"')
_GLOBAL = re.compile(r'\b(?:pflagR|r)egister(?:Deprecated)?\(global, local, "([A-Za-z0-9_-]+)"')


def read_flags(kubernetes: Path, component_base: Path) -> list[str]:
    """Give the flags of the kubelet for Linux in two folders of source: Kubernetes, and its component-base."""
    options = kubernetes / "cmd/kubelet/app/options"
    unknown = {path.name for path in options.glob("globalflags*.go")} - {*_OPTIONS, *_NOT_BUILT}
    if unknown:
        raise ValueError(f"decide in source_flags.py whether to read the flags of {', '.join(sorted(unknown))}")
    paths = [options / name for name in _OPTIONS]
    # The flags of the container runtime stood in a package of their own until 1.34.
    paths += [kubernetes / "pkg/kubelet/config/flags.go", component_base / "logs/api/v1/options.go"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths if path.exists())
    names = _VARIABLE.findall(text) + _GLOBAL.findall(text)
    return sorted(_EVERYWHERE | {name.replace("_", "-") for name in names})


def kubelet_flags() -> dict[str, list[str]]:
    """Give the kubelet's flags by minor version; the Go command downloads the sources."""
    return {
        series: read_flags(
            _module(f"k8s.io/kubernetes@v{version}"),
            _module(f"k8s.io/component-base@v0.{version.partition('.')[2]}"),
        )
        for series, version in SOURCES.items()
    }


def _module(module: str) -> Path:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "go.mod").write_text("module source\n")
        command = ["go", "mod", "download", "-json", module]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return Path(json.loads(done.stdout)["Dir"])
