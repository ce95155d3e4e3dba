"""The step that starts k0s and waits for it ends in time, whatever k0s does."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from slipway.v1alpha1 import plan_pb2 as planpb
from tests.bootstrapper.engines.k0s.conftest import Plan

NEVER = """\
#!/bin/sh
echo called >>"$0.calls"
sleep 3
exit 1
"""
"""A k0s whose API server takes three seconds to refuse."""


def start(plan: Callable[..., Plan], role: str, spec: dict[str, object]) -> planpb.Step:
    """Give the step of a machine."""
    (step,) = (entry for entry in plan(role, spec).result.steps if entry.id == "20-k0s")
    return step


def program(path: Path, text: str) -> Path:
    """Write a program."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_answers_that_are_slow_do_not_prolong_the_wait(plan: Callable[..., Plan], tmp_path: Path) -> None:
    """A limit of four seconds is one of time: within it k0s is asked twice at most, and not four times."""
    for name in ("systemctl", "journalctl"):
        program(tmp_path / name, "#!/bin/sh\n")
    k0s = program(tmp_path / "k0s", NEVER)
    spec = {
        "kubernetes": {"timeouts": {"controlPlaneComponent": "4s"}},
        "engineOptions": {"k0s": {"program": str(k0s)}},
    }
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        list(start(plan, "ROLE_INIT", spec).command.argv), env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (4, "k0s: the machine did not join within 4 s\n"), done.stderr
    assert 1 <= len((tmp_path / "k0s.calls").read_text().splitlines()) <= 2


@pytest.mark.parametrize(("limit", "seconds"), [("0.2s", "1"), ("1.5s", "2"), ("20s", "20"), (None, "300")])
def test_a_limit_of_less_than_a_second_is_one_second(
    plan: Callable[..., Plan], limit: str | None, seconds: str
) -> None:
    """What is stated is never replaced by the default."""
    timeouts = {"tlsBootstrap": limit} if limit else {}
    assert start(plan, "ROLE_WORKER", {"kubernetes": {"timeouts": timeouts}}).command.argv[5] == seconds
