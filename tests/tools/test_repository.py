"""With git and without it the project has the same files, and never those that are made in it."""

import shutil
import subprocess

import pytest

from tools import repository


@pytest.fixture
def tree(tmp_path):
    """A tree that is no clone."""
    for path in ("a.py", "deep/b.yaml", "build/made.txt", "deep/__pycache__/b.pyc", ".venv/ready", "x.egg-info/top"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    (tmp_path / ".gitignore").write_text("build/\n__pycache__/\n.venv/\n*.egg-info/\n")
    return tmp_path


def test_without_git(tree):
    """What is not made there is a file of the project; no commit is known."""
    assert repository.files(tree) == [".gitignore", "a.py", "deep/b.yaml"]
    assert repository.commit(tree) == "0"


@pytest.mark.skipif(shutil.which("git") is None, reason="no git on this machine")
def test_with_git(tree):
    """Tracked or not yet tracked makes no difference; what was deleted is gone."""
    subprocess.run(["git", "init", "-q", "."], cwd=tree, check=True)
    assert repository.files(tree) == [".gitignore", "a.py", "deep/b.yaml"]
    subprocess.run(["git", "add", "a.py"], cwd=tree, check=True)
    (tree / "a.py").unlink()
    assert repository.files(tree) == [".gitignore", "deep/b.yaml"]


def test_our_own():
    """Every folder that .gitignore names is one that is skipped without git, so that both ways agree."""
    lines = (repository.ROOT / ".gitignore").read_text(encoding="utf-8").split()
    ignored = {line.rstrip("/") for line in lines if line.endswith("/") and "*" not in line}
    assert ignored <= repository.MADE
