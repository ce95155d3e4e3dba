"""The command line that a developer uses: up, kubectl, down."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.cluster.machines import left_of

pytestmark = [pytest.mark.engine, pytest.mark.timeout(400)]


def run(*command: str) -> str:
    """What a command prints; it must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_up_and_down(engine: Callable[..., None], tmp_path: Path) -> None:
    """One command starts it and says how to use it, a second one finds it there, a third one leaves nothing."""
    engine("cluster")
    command = (sys.executable, "-m", "tools.cluster")
    folder = tmp_path / "cluster"
    try:
        assert f"{folder}/kubectl get clusters,machines" in run(*command, "up", str(folder))
        assert "up after" not in run(*command, "up", str(folder))
        kubectl = str(folder / "kubectl")
        assert "machinedeployments" in run(kubectl, "api-resources", "--api-group=cluster.x-k8s.io")
        assert run(kubectl, "get", "secret", "demo-ca", "-o", "name") == "secret/demo-ca\n"
        environment = Path(os.path.realpath(folder / "logs")).parent
        assert (folder / "logs" / "core.log").exists()
    finally:
        ended = run(*command, "down", str(folder))
    assert ended == "ended\n"
    assert not environment.exists()
    assert [path.name for path in folder.iterdir() if path.name in {"kubectl", "kubeconfig", "logs"}] == []
    assert left_of(environment) == []
    assert run(*command, "down", str(folder)) == "nothing is running\n"
