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
  cluster) {python} -m tools.cluster up --slipway ;;
  cluster-real) {python} -m tools.cluster up --slipway --real-machines ;;
  cluster-down) {python} -m tools.cluster down ;;
  esac
}}
"""


_SHELL = "export KUBECONFIG=$PWD/build/cluster/kubeconfig PATH=$PWD/build/cluster:$PATH\n"
_REAL = "## Machines that boot"


def test_the_page_works(engine: Callable[..., None], tmp_path: Path) -> None:
    """From nothing to a running cluster's data, and back to nothing."""
    engine("cluster")
    page, _, _ = PAGE.read_text(encoding="utf-8").partition(_REAL)
    printed = typed(page, tmp_path, begins="make cluster\n")
    assert "#cloud-config" in printed
    assert len(re.findall(r"^demo-workers-\S+ +demo +True +Available +cloud-init ", printed, re.MULTILINE)) == 2
    assert len(re.findall(r"^demo-\S+ +demo +true .* slipway$", printed, re.MULTILINE)) == 1
    assert len(re.findall(r"^demo-\S+ +Ready ", printed, re.MULTILINE)) == 3


@pytest.mark.boots
@pytest.mark.long
@pytest.mark.xdist_group("node")
def test_its_machines_boot(engine: Callable[..., None], tmp_path: Path) -> None:
    """The same with machines that boot: both run, and their cluster answers by the way in."""
    engine("cluster", "node-1.34", "node-1.34-k0s")
    _, _, page = PAGE.read_text(encoding="utf-8").partition(_REAL)
    printed = typed(page, tmp_path, begins="make cluster-real\n", before=_SHELL)
    assert len(re.findall(r"^tide-\S+ +tide .* Running ", printed, re.MULTILINE)) == 2
    assert len(re.findall(r"^tide-\S+ +Ready ", printed, re.MULTILINE)) == 2


def typed(page: str, folder: Path, *, begins: str, before: str = "") -> str:
    """What the commands of a page print, which starts a cluster and ends it."""
    found = list(blocks(page))
    for block in found:
        if block.key == "file":
            (folder / block.value).write_text(block.body, encoding="utf-8")
    commands = [block.body for block in found if block.info == "sh"]
    assert commands[0].startswith(begins)
    assert commands[-1].endswith("make cluster-down\n")
    (folder / "examples").symlink_to(ROOT / "examples")
    script = folder / "page.sh"
    script.write_text("".join(["set -euxo pipefail\n", _MAKE.format(python=sys.executable), before, *commands]))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        done = subprocess.run(
            ["bash", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
    finally:
        down = [sys.executable, "-m", "tools.cluster", "down"]
        subprocess.run(down, cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.rstrip().endswith("ended")
    return done.stdout
