"""The Go provisioner keeps the contract, by mutual TLS and without, and the report that is kept is true."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools.oracles.go_examples import EXAMPLES

pytestmark = pytest.mark.timeout(1200)
ROOT = Path(__file__).resolve().parents[2]
_KEPT = ROOT / "docs" / "conformance" / "bottlerocket.example.com.yaml"
_CODES = {
    "VERDICT_CONFORMANT": 0, "VERDICT_CONFORMANT_AS_FAR_AS_CHECKED": 3, "VERDICT_NOT_CONFORMANT": 1,
}  # fmt: skip


def report(*flags: str) -> dict[str, Any]:
    """Run the suite as an author would, and give its report."""
    decode = shlex.join([sys.executable, str(ROOT / "examples" / "provisioner-go" / "decode.py")])
    extension = ROOT / "examples" / "provisioner-go" / "extension.yaml"
    start = shlex.quote(str(EXAMPLES["provisioner-go"].require()))
    done = subprocess.run(
        [
            sys.executable, "-m", "slipway.cli", "conformance", "run", "--quiet", "-o", "json",
            "--start-cmd", start, "--decode-cmd", decode, "--extension", str(extension), *flags,
        ],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == _CODES[found["verdict"]], done.stderr
    return found


@pytest.mark.parametrize(("flags", "transport"), [((), "tls"), (("--insecure",), "insecure")])
def test_it_keeps_the_contract(flags: tuple[str, ...], transport: str, engine: Callable[..., None]) -> None:
    """No clause is broken; what it declares is found in its user data by a parser that is not its own."""
    engine("provisioner-go")
    found = report(*flags)
    # The version of Kubernetes is that of its image: nothing of it stands in the user data.
    assert found["verdict"] == "VERDICT_CONFORMANT_AS_FAR_AS_CHECKED", found["findings"]
    assert found["transport"] == transport
    assert found["profiles"] == ["INTENT"]
    assert "failed" not in found["summary"]
    kept = yaml.safe_load(_KEPT.read_text(encoding="utf-8"))
    assert found["implementation"] == kept["implementation"]
    same = found == kept if transport == kept["transport"] else found["formats"] == kept["formats"]
    assert same, f"write it anew: slipway conformance run ... --report {_KEPT.name}"
