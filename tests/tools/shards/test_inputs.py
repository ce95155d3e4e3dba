"""A shard is affected by everything that the map does not leave out, and by nothing else."""

import shutil
import subprocess

import pytest

from tools.shards import check, shard_map


def digests(root):
    return check.digests_by_shard(shard_map.read(root / shard_map.FILE), root)


@pytest.mark.parametrize(
    ("path", "affected", "reason"),
    [
        ("bootstrapper/slipway/core.py", {"machines", "web"}, "a source that is imported"),
        ("bootstrapper/slipway/data.yaml", {"machines", "web"}, "data that nobody imports"),
        ("something/new.txt", {"machines", "web"}, "a folder that the map does not know"),
        ("pyproject.toml", {"machines", "web"}, "what holds for all"),
        ("tests/conftest.py", {"machines", "web"}, "what all tests share"),
        ("tests/machines/machine.py", {"machines"}, "a helper that tests of one shard import"),
        ("tests/quick/helper.py", set(), "a helper that no test imports"),
        ("tests/machines/data.txt", {"machines", "web"}, "data beside tests"),
        ("tests/machines/test_boot.py", {"machines"}, "a test"),
        ("tests/machines/test_new.py", {"machines"}, "a new test"),
        ("services/slipway/web/page.py", {"web"}, "a folder that one shard is without"),
        ("tests/quick/test_quick.py", set(), "a test of no shard"),
        ("pictures/harbour.svg", set(), "a group that both are without"),
        ("docs/page.md", set(), "documentation that no test reads"),
        ("docs/read.md", {"web"}, "documentation that one shard reads"),
        ("tests/shards.lock", set(), "the record itself"),
    ],
)
def test_a_change(root, write, path, affected, reason):
    """Exactly these shards have other inputs after a change."""
    before = digests(root)
    old = (root / path).read_text(encoding="utf-8") if (root / path).exists() else ""
    write(path, f"{old}# changed\n")
    after = digests(root)
    assert {name for name in before if before[name] != after[name]} == affected, reason


def test_a_test_that_another_one_imports(root, write):
    """A test file that a shard's test imports is an input of that shard too."""
    write("tests/machines/test_boot.py", "from tests.quick.test_quick import test_quick\n")
    before = digests(root)
    write("tests/quick/test_quick.py", "def test_quick(): return 1\n")
    assert {name for name, digest in digests(root).items() if before[name] != digest} == {"machines"}


@pytest.mark.skipif(shutil.which("git") is None, reason="no git on this machine")
def test_files_that_git_ignores_and_files_that_are_gone(root, write):
    """What is generated is no input, what was deleted is none any more, and both need no commit."""
    write(".gitignore", "build/\n")
    subprocess.run(["git", "add", "."], cwd=root, check=True)
    before = digests(root)
    write("build/out.txt", "made")
    assert digests(root) == before
    (root / "bootstrapper/slipway/data.yaml").unlink()
    assert all(before[name] != digest for name, digest in digests(root).items())


def test_a_program_that_can_no_longer_be_run(root):
    """The permission to execute is an input."""
    before = digests(root)
    (root / "bootstrapper/slipway/data.yaml").chmod(0o755)
    assert digests(root) != before
