"""Slipway's own provisioners keep the contract, over TLS and without it, and the reports that are kept are true."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from google.protobuf.json_format import MessageToDict

from tools import conformance_reports
from tools.conformance.options import Options
from tools.conformance.run import Wanted, conformance

pytestmark = pytest.mark.timeout(600)
ROOT = Path(__file__).resolve().parents[3]
QUICK = ("TRN", "INF", "FEA", "RND", "ERR", "SEC", "EXE", "VER", "LIM-003", "LIM-009")


@pytest.mark.parametrize("name", conformance_reports.PROVISIONERS)
async def test_the_kept_report_is_true(name: str) -> None:
    """Over TLS, with everything that the suite can do; a report that is kept says the same (run: make conformance)."""
    made = await conformance_reports.run(name, renders=60)
    assert made.conformant, made.findings
    kept = (ROOT / conformance_reports.FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(kept) == MessageToDict(made)


@pytest.mark.parametrize("name", conformance_reports.PROVISIONERS)
async def test_without_tls(name: str) -> None:
    """The same provisioner, called in plain text."""
    options = Options(start_cmd=(sys.executable, "-m", conformance_reports.PROVISIONERS[name]), insecure=True)
    made = await conformance(options, wanted=Wanted(only=QUICK))
    assert made.conformant, made.findings
    assert made.transport == "insecure"


def test_the_list_of_reports_is_fresh() -> None:
    """The page names every report that is kept."""
    page = (ROOT / conformance_reports.FOLDER / "README.md").read_text(encoding="utf-8")
    assert page == conformance_reports.readme(conformance_reports.kept(ROOT))


def test_the_command_line(tmp_path: Path) -> None:
    """Exit code, report and JUnit of a run as an author makes it; an endpoint where nobody is, is told in words."""
    flags = ["--endpoint", "127.0.0.1:1", "--insecure", "-o", "json", "--only", "INF"]
    nobody = _slipway("conformance", "run", *flags)
    assert nobody.returncode == 1
    assert "nobody answers there" in nobody.stderr
    command = f"{sys.executable} -m provisioners.ignition"
    files = ["--report", str(tmp_path / "report.yaml"), "--junit", str(tmp_path / "out.xml")]
    done = _slipway(
        "conformance", "run", "--start-cmd", command, "--insecure", "--only", "INF-001", "-o", "json", *files
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["passed"] == ["INF-001.name"]
    assert yaml.safe_load((tmp_path / "report.yaml").read_text(encoding="utf-8")) == json.loads(done.stdout)
    assert b'name="INF-001.name"' in (tmp_path / "out.xml").read_bytes()
    assert "[  1/1] INF-001.name: passed" in done.stderr
    known = tmp_path / "known"
    known.write_text("INF-001.name\n", encoding="utf-8")
    fixed = _slipway(
        "conformance", "run", "--start-cmd", command, "--insecure", "--only", "INF-001", "--known-failures", str(known)
    )
    assert fixed.returncode == 1
    assert "KNOWN FAILURE THAT PASSES" in fixed.stdout


@pytest.mark.parametrize(
    ("flags", "text", "reason"),
    [
        ([], "--endpoint", "nothing to test"),
        (["--endpoint", "127.0.0.1:1"], "--insecure", "neither TLS nor a word that none is wanted"),
        (["--endpoint", "127.0.0.1:1", "--insecure", "--tls-cert-dir", "x"], "exclude", "both"),
        (["--endpoint", "127.0.0.1:1", "--insecure", "--only", "XYZ"], "XYZ", "no such clause"),
        (["--start-cmd", "'", "--insecure"], "quotes", "half a command"),
    ],
)
def test_a_wrong_command_line(flags: list[str], text: str, reason: str) -> None:
    """Exit code 2, in words."""
    done = _slipway("conformance", "run", *flags)
    assert done.returncode == 2, reason
    assert text in done.stderr, reason


def _slipway(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "services.cli", *arguments], check=False, capture_output=True, text=True, cwd=ROOT
    )
