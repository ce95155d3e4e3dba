"""The tutorial works as a newcomer reads it: every command of its page, in one shell, in its order."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.console import blocks

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "tutorials" / "cluster-api.md"
_MAKE = """
make() {{
  case $1 in
  cluster) {python} -m tools.cluster up ;;
  cluster-down) {python} -m tools.cluster down ;;
  esac
}}
"""


def test_the_page_works(engine: Callable[..., None], tmp_path: Path) -> None:
    """From nothing to a running cluster's data, and back to nothing."""
    engine("cluster")
    found = list(blocks(PAGE.read_text(encoding="utf-8")))
    for block in found:
        if block.key == "file":
            (tmp_path / block.value).write_text(block.body, encoding="utf-8")
    commands = [block.body for block in found if block.info == "sh"]
    assert commands[0] == "make cluster\n"
    assert commands[-1] == "make cluster-down\n"
    script = tmp_path / "page.sh"
    script.write_text("".join(["set -euxo pipefail\n", _MAKE.format(python=sys.executable), *commands]))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        done = subprocess.run(
            ["bash", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
    finally:
        down = [sys.executable, "-m", "tools.cluster", "down"]
        subprocess.run(down, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml" in done.stdout
    nodes = re.findall(r"^demo-\S+ +Ready ", done.stdout, re.MULTILINE)
    assert len(nodes) == 3
    assert done.stdout.rstrip().endswith("ended")
