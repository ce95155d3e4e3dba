"""A small tree of its own, with two shards."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

MAP = """\
quick = ["tests/quick"]
documentation = ["README.md", "docs"]
[groups]
pictures = ["pictures"]
[shards.machines]
tests = ["tests/machines"]
without = ["@pictures", "services/slipway/web"]
engines = ["root-trixie"]
[shards.web]
tests = ["tests/machines/test_web.py"]
without = ["@pictures"]
docs = ["docs/read.md"]
"""
FILES = {
    "README.md": "words",
    "docs/page.md": "words",
    "docs/read.md": "words",
    "pictures/harbour.svg": "<svg/>",
    "pyproject.toml": '[project]\n[project.scripts]\nslipway-web = "slipway.web.__main__:main"\n',
    "bootstrapper/slipway/core.py": "VALUE = 1\n",
    "bootstrapper/slipway/data.yaml": "a: 1\n",
    "services/slipway/web/__init__.py": "",
    "services/slipway/web/__main__.py": "def main(): pass\n",
    "tests/conftest.py": "",
    "tests/quick/test_quick.py": "def test_quick(): pass\n",
    "tests/machines/machine.py": "from slipway.core import VALUE\n",
    "tests/machines/test_boot.py": "from tests.machines.machine import VALUE\n",
    "tests/machines/test_web.py": "import slipway.web.__main__\nPAGE = ROOT / 'docs' / 'read.md'\n",
    "tests/quick/helper.py": "",
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], None]:
    """Write a file of the tree."""

    def into(path: str, text: str) -> None:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")

    return into


@pytest.fixture
def root(tmp_path: Path, write: Callable[[str, str], None]) -> Path:
    """Give the tree."""
    for path, text in {**FILES, "tests/shards.toml": MAP}.items():
        write(path, text)
    if shutil.which("git"):
        subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    return tmp_path
