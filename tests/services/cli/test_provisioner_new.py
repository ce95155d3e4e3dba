"""`slipway provisioner new`: from nothing to a provisioner that a registry knows and that renders a spec."""

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.rpc.addresses import free_port
from tests.services.cli.conftest import EXAMPLES, Local, Slipway

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("local")]

NAME = "acme-linux"
DEADLINE_SECONDS = 30.0


@pytest.fixture
def written(slipway: Slipway, tmp_path: Path) -> Path:
    """A provisioner as the command writes it."""
    folder = tmp_path / "acme"
    result = slipway("provisioner", "new", NAME, "-o", folder)
    assert result.exit_code == 0, result.stderr
    assert str(folder / "acme_linux" / "render.py") in result.stdout
    return folder


def told(folder: Path, part: str, local: Local | None = None) -> list[str]:
    """Give the words of the one command of its README that has this part, for the services that run here."""
    (line,) = (one for one in (folder / "README.md").read_text().splitlines() if one[:4].isspace() and part in one)
    if local is not None:
        ports = {"127.0.0.1:9440": local.flags[3], "127.0.0.1:9441": local.flags[1]}
        for port, here in {**ports, "127.0.0.1:9500": f"127.0.0.1:{free_port()}"}.items():
            line = line.replace(port, here)
    first, *words = shlex.split(line.replace("$PWD", str(folder)).replace("spec.yaml", str(EXAMPLES / "native.yaml")))
    assert first in {"python", "slipway"}
    return [sys.executable, *words] if first == "python" else words


@pytest.fixture
def served(written: Path, local: Local) -> Iterator[subprocess.Popen[bytes]]:
    """The same, as a process that announces itself to the local registry, as its README has it."""
    argv = told(written, "--registry-address", local)
    with subprocess.Popen(argv, cwd=written, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        yield process
        process.terminate()
        assert process.wait(timeout=30) == 0


def test_its_own_test_passes(written: Path) -> None:
    """The test that comes with it, run as its README says."""
    argv = [*told(written, "-m pytest"), "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(argv, cwd=written, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_its_readme_tells_how_to_prove_it(written: Path) -> None:
    """The command for the conformance suite runs as it stands; one clause shows that it starts and decodes."""
    argv = [sys.executable, "-m", "slipway.cli", *told(written, "conformance")]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [*argv, "--quiet", "--only", "RND-001"], cwd=written, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(EXAMPLES.parent)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_renders_a_spec_through_the_registry(
    slipway: Slipway, local: Local, written: Path, served: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    """With two declared features it honours all of the native example: the rest reaches it lowered."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while NAME not in slipway(*told(written, "slipway provisioners", local)).stdout:
        assert time.monotonic() < deadline, "it did not register itself"
        assert served.poll() is None, "it ended"
    result = slipway(*told(written, "slipway render", local), "-o", tmp_path / "out", "--summary", "json")
    assert result.exit_code == 0, result.stderr
    entries = json.loads(result.stdout)
    assert [(entry["provisioner"], entry["format"]) for entry in entries] == [(NAME, f"{NAME}/v1")] * 3
    for entry in entries:
        script = tmp_path / "out" / entry["file"]
        assert script.name == f"{NAME}.sh"
        assert subprocess.run(["sh", "-n", str(script)], check=False).returncode == 0
    assert any(one["feature"] == "os.sysctls" for one in entries[0]["lowered"])


REFUSED = [
    ("Acme", "a name has lower-case letters", "a capital"),
    ("slipway", "is not taken", "a name that the project has"),
    ("class", "is not taken", "a word of Python"),
    ("a_b", "a name has lower-case letters", "an underscore"),
    ("../x", "a name has lower-case letters", "a path"),
]


@pytest.mark.parametrize(("name", "said", "reason"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_a_name_that_can_not_be_used_is_told(
    slipway: Slipway, tmp_path: Path, name: str, said: str, reason: str
) -> None:
    """Exit code 2, and nothing is written."""
    result = slipway("provisioner", "new", name, "-o", tmp_path / "new")
    assert (result.exit_code, said in result.stderr) == (2, True), reason
    assert not (tmp_path / "new").exists()


def test_nothing_is_overwritten(slipway: Slipway, tmp_path: Path) -> None:
    """A folder with something in it is left as it is."""
    (tmp_path / "mine").write_text("mine")
    result = slipway("provisioner", "new", "acme", "-o", tmp_path)
    assert result.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
