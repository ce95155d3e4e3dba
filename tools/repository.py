"""Which files are the project's own, and which commit this is: as git says, or as well as can be told without it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What is made in the tree, as .gitignore has it.
MADE = {
    ".git", "go.work", "go.work.sum", ".hypothesis", ".import_linter_cache", ".kube", ".mypy_cache", ".pytest_cache",
    ".ruff_cache", ".venv", "__pycache__", "build", "dist", "out", "secrets", "userdata",
}  # fmt: skip


def files(root: Path) -> list[str]:
    """Give the paths of all files that git tracks or would track, as they are on the disk now."""
    listed = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    paths = _walked(root) if listed is None else filter(None, listed.split("\0"))
    return sorted({path for path in paths if (root / path).is_symlink() or (root / path).is_file()})


def commit(root: Path) -> str:
    """Give the name of the commit, in hexadecimal digits; 0 where nobody knows."""
    return (_git(root, "rev-parse", "HEAD") or "0").strip()


def _git(root: Path, *words: str) -> str | None:
    """Ask git, whoever owns the clone; nothing where git is not there or this is no clone."""
    command = ["git", "-c", f"safe.directory={root}", *words]
    try:
        return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None


def _walked(root: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in MADE and not name.endswith(".egg-info")]
        for name in sorted(set(names) - MADE):
            yield str((Path(folder) / name).relative_to(root))
