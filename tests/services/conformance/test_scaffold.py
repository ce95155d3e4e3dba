"""What `slipway provisioner new` writes is a provisioner that keeps the contract, before its author changes a line."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from slipway.cli.command_line import cli
from slipway.conformance.options import Options
from slipway.conformance.run import conformance
from slipway.conformance.v1alpha1 import report_pb2 as reportpb
from tests.services.conformance.runs import keeps


@pytest.mark.long
@pytest.mark.timeout(1800)
async def test_it_keeps_the_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over TLS, with the decoder that it comes with: no clause is broken, and all that it declares was read."""
    folder = tmp_path / "acme"
    written = CliRunner().invoke(cli, ["provisioner", "new", "acme", "-o", str(folder)])
    assert written.exit_code == 0, written.output
    monkeypatch.setenv("PYTHONPATH", str(folder))
    decode = (sys.executable, str(folder / "acme" / "decode.py"))
    made = await conformance(Options(start_cmd=(sys.executable, "-m", "acme"), decode_cmd=decode, renders=60))
    broken = {reportpb.FINDING_STATE_FAILED, reportpb.FINDING_STATE_WARNED}
    assert [(finding.check, *finding.found) for finding in made.findings if finding.state in broken] == []
    assert keeps(made), made.findings
    assert list(made.profiles) == ["PLAN"]
