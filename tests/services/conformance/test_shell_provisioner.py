"""A program of shell and awk is a provisioner that keeps the contract: the suite runs it as its reader would."""

from pathlib import Path

import pytest
from google.protobuf.json_format import MessageToDict

from slipway.conformance.options import Options
from tests.services.conformance.edits.edit import Edit, edits
from tests.services.conformance.edits.programs import program
from tests.services.conformance.runs import BAD, as_usual, broken, keeps
from tools import conformance_reports

_SEEN = [edit for name in ("shell", "shell_again") for edit in edits(name) if edit.check]

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "examples" / "provisioner-shell"


@pytest.mark.long
@pytest.mark.timeout(1800)
async def test_it_keeps_the_contract() -> None:
    """Over TLS, with a decoder that shares nothing with it: no clause is broken, all that it declares was read.

    The report that is kept says the same.
    """
    made = await conformance_reports.run(conformance_reports.SHELL, renders=60)
    assert [(finding.check, *finding.found) for finding in made.findings if finding.state in BAD] == []
    assert keeps(made), made.findings
    kept = conformance_reports.kept(ROOT)[conformance_reports.SHELL]
    assert MessageToDict(as_usual(made, kept)) == MessageToDict(kept)
    assert list(made.profiles) == ["PLAN"]


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("edit", _SEEN, ids=[edit.name.replace(" ", "-") for edit in _SEEN])
async def test_a_slip_is_seen(edit: Edit, tmp_path: Path) -> None:
    """By the check that is named beside it."""
    start_cmd, decode_cmd = program("shell", edit, tmp_path)
    options = Options(insecure=True, start_cmd=start_cmd, decode_cmd=decode_cmd)
    assert await broken(options, edit.check) == [edit.check]


def test_it_is_as_small_as_it_says() -> None:
    """Sixty lines, and no program beside the shell, awk and base64; its first-boot system has twenty."""
    lines = (FOLDER / "provisioner.sh").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
    assert lines[0] == "#!/bin/sh"
    assert len((FOLDER / "first-boot.py").read_text(encoding="utf-8").splitlines()) <= 20
