"""kube-bench, a scanner of other people for the CIS Kubernetes Benchmark: the program, and the checks that it reads.

Both are of one published Go module. The checks are kept beside the engines, so that a test needs no Go toolchain.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tools.oracles import cache, go_programs
from tools.oracles.failures import EngineMissing

NAME = "kube-bench"
PROGRAM = go_programs.Program(NAME, "kube_bench", package="github.com/aquasecurity/kube-bench")


def build() -> Path:
    """Builds the program and copies the checks unless they are there; a minute when the Go build cache is cold."""
    program = go_programs.build(PROGRAM)
    checks = _checks()
    with cache.locked(f"{NAME}-checks"):
        if not checks.is_dir():
            for old in checks.parent.glob(f"{NAME}-????????????"):
                cache.discard(old)
            with cache.being_built(checks) as beside:
                shutil.copytree(go_programs.module_folder(PROGRAM) / "cfg", beside, dirs_exist_ok=True)
                for path in (beside, *beside.rglob("*")):
                    path.chmod(0o755 if path.is_dir() else 0o644)  # Go's cache of modules is read-only.
    return program


def require() -> Path:
    """Gives the program's path.

    Raises:
        EngineMissing: it or its checks were not built yet.
    """
    if not _checks().is_dir():
        raise EngineMissing(NAME)
    return PROGRAM.require()


def install(folder: Path) -> None:
    """Puts ``kube-bench`` and its folder ``cfg`` into a folder of a machine's disk.

    Raises:
        EngineMissing: they were not built yet.
    """
    program = require()
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy2(program, folder / NAME)
    shutil.copytree(_checks(), folder / "cfg", dirs_exist_ok=True)


def _checks() -> Path:
    return cache.directory() / PROGRAM.path.name
