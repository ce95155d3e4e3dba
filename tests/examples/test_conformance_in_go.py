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
from google.protobuf.json_format import MessageToDict, ParseDict

from slipway.conformance.v1alpha1 import report_pb2 as reportpb
from tests.services.conformance.runs import as_usual
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
    made: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == _CODES[made["verdict"]], done.stderr
    return made


@pytest.mark.parametrize(("flags", "transport"), [((), "tls"), (("--insecure",), "insecure")])
def test_it_keeps_the_contract(flags: tuple[str, ...], transport: str, engine: Callable[..., None]) -> None:
    """No clause is broken; what it declares is found in its user data by a parser that is not its own."""
    engine("provisioner-go")
    made = report(*flags)
    # The version of Kubernetes is that of its image: nothing of it stands in the user data.
    assert made["verdict"] == "VERDICT_CONFORMANT_AS_FAR_AS_CHECKED", made["findings"]
    assert made["transport"] == transport
    assert made["profiles"] == ["INTENT"]
    assert "failed" not in made["summary"]
    kept = yaml.safe_load(_KEPT.read_text(encoding="utf-8"))
    made = MessageToDict(as_usual(ParseDict(made, reportpb.Report()), ParseDict(kept, reportpb.Report())))
    assert made["implementation"] == kept["implementation"]
    same = made == kept if transport == kept["transport"] else made["formats"] == kept["formats"]
    assert same, f"write it anew: slipway conformance run ... --report {_KEPT.name}"
