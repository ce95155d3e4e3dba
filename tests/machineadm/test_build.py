"""The node agent as a Go module: formatted, vetted, tested, small, static, and the same bytes wherever it is built."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from slipway.bootstrapper.lowering.runners.lower_steps import lower_steps
from slipway.bootstrapper.lowering.runners.step_data import STEP_DATA
from slipway.bootstrapper.lowering.runners.windows_file import PLAN
from slipway.contract.content import SecretIndex, content_bytes
from tests.bootstrapper.lowering.runners.plans import POST, PRE, program, windows
from tools.oracles import machineadm

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(autouse=True)
def _go(engine: Callable[..., None]) -> None:
    """Every test of this file needs Go, and what it has compiled before."""
    engine(machineadm.NAME)


def test_its_own_tests_pass() -> None:
    """`go test` passes."""
    machineadm.go(machineadm.SOURCE, "test", "./...")


def test_it_is_formatted() -> None:
    """`gofmt` would change nothing."""
    assert machineadm.go(machineadm.SOURCE, "-l", ".", program="gofmt") == ""


@pytest.mark.parametrize("platform", machineadm.PLATFORMS)
def test_it_is_built_for_every_platform(platform: str, tmp_path: Path) -> None:
    """`go vet` finds nothing; two builds in different folders are the same bytes; static, and at most 8 MiB."""
    system, _, architecture = platform.partition("/")
    machineadm.go(machineadm.SOURCE, "vet", "./...", environment={"GOOS": system, "GOARCH": architecture})
    elsewhere = tmp_path / "elsewhere" / "copy"
    shutil.copytree(machineadm.SOURCE, elsewhere)
    machineadm.compile_for(platform, tmp_path / "one")
    machineadm.compile_for(platform, tmp_path / "two", source=elsewhere)
    built = (tmp_path / "one").read_bytes()
    assert built == (tmp_path / "two").read_bytes()
    assert 0 < len(built) <= machineadm.MOST_BYTES
    assert b"/lib64/ld-linux" not in built
    assert str(machineadm.SOURCE).encode() not in built


def test_it_reads_the_step_data_of_windows(tmp_path: Path) -> None:
    """What the bootstrapper writes for the runner of Windows is read whole: order, flags, retries and timeouts."""
    steps = [
        program("a", "cmd.exe", "/c", "a b", phase=PRE, retries=2, redact_output=True),
        program("b", "b.exe", reboot=True),
        program("c", "c.exe", phase=POST, retry_on_boot=True),
    ]
    steps[1].command.timeout.FromSeconds(70)
    lowered = lower_steps(steps, bundle_id="bundle-1", target=windows())
    (document,) = [file for file in lowered.files if file.path == PLAN]
    (tmp_path / "plan.json").write_bytes(content_bytes(document.content, SecretIndex([])))
    expected = "bundle-1|slipway-resume prepare  0 0s|a pre x 2 0s|b bootstrap r 0 1m10s|c post b 0 0s|-"
    environment = {"SLIPWAY_LOWERED_PLAN": str(tmp_path / "plan.json"), "SLIPWAY_LOWERED_STEPS": expected}
    told = machineadm.go(
        machineadm.SOURCE, "test", "-v", "-count=1", "-run", "WasLowered", "./internal/plan", environment=environment
    )
    assert "--- PASS: TestDocumentThatWasLowered" in told


def test_it_uses_few_modules() -> None:
    """The standard library, and the one module with the calls of operating systems."""
    modules = machineadm.go(machineadm.SOURCE, "list", "-m", "all").split("\n")
    assert [line.split()[0] for line in modules if line] == ["slipway.dev/machineadm", "golang.org/x/sys"]


def test_it_executes_the_step_data_of_the_bootstrapper() -> None:
    """The node agent and the bootstrapper mean the same version of the step data."""
    source = (machineadm.SOURCE / "internal/plan/plan.go").read_text(encoding="utf-8")
    assert f"const Format = {STEP_DATA}\n" in source
