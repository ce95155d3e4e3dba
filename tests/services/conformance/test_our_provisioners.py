"""Slipway's own provisioners keep the contract, over TLS and without it, and the reports that are kept are true."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from google.protobuf.json_format import MessageToDict

from slipway.conformance.catalogue import all_checks
from slipway.conformance.check import Need
from slipway.conformance.options import Options
from slipway.conformance.run import conformance
from tests.services.conformance.edits.edit import edits
from tests.services.conformance.runs import as_usual, keeps
from tools import conformance_reports

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]
ROOT = Path(__file__).resolve().parents[3]

_ROWS = {
    "ignition": "first, Ignition in Python",
    "bottlerocket": "first, Bottlerocket in Go",
    "cloud_init": "second, cloud-init in Python",
    "windows": "third, Windows in Python",
    "shell": "third, shell and awk",
    "talos": "fourth, Talos in Python",
    "bottlerocket_again": "fourth, Bottlerocket in Go again",
    "cloud_init_again": "fifth and sixth, cloud-init in Python again",
    "talos_again": "fifth and sixth, Talos in Python again",
    "windows_again": "fifth and sixth, Windows in Python again",
    "ignition_again": "seventh, Ignition in Python again",
    "cloud_init_third": "seventh, cloud-init in Python once more",
    "bottlerocket_third": "seventh, Bottlerocket in Go once more",
    "shell_again": "seventh, shell and awk again",
    "ignition_fifth": "eighth, Ignition in Python a third time",
    "bottlerocket_fifth": "eighth, Bottlerocket in Go a fourth time",
    "cloud_init_sixth": "ninth, cloud-init in Python a fourth time",
    "bottlerocket_sixth": "ninth, Bottlerocket in Go a fifth time",
    "ignition_twelfth": "twelfth, Ignition in Python a fourth time",
    "cloud_init_twelfth": "twelfth, cloud-init in Python a fifth time",
    "bottlerocket_twelfth": "twelfth, Bottlerocket in Go a sixth time",
    "talos_thirteenth": "thirteenth, Talos in Python a fourth time",
    "bottlerocket_thirteenth": "thirteenth, Bottlerocket in Go a seventh time",
    "windows_fourteenth": "fourteenth, Windows in Python a third time",
    "bottlerocket_fourteenth": "fourteenth, Bottlerocket in Go an eighth time",
}

_PROGRAM = """
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.sdk.command import run

class Versioned(CloudInit):
    version = "{version}"

run(Versioned())
"""


@pytest.mark.long
@pytest.mark.parametrize("name", conformance_reports.PROVISIONERS)
async def test_the_kept_report_is_true(name: str) -> None:
    """Over TLS, with everything that the suite can do; a report that is kept says the same (run: make conformance)."""
    made = await conformance_reports.run(name, renders=60)
    assert keeps(made), made.findings
    kept = (ROOT / conformance_reports.FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(kept) == MessageToDict(as_usual(made, conformance_reports.kept(ROOT)[name]))


@pytest.mark.long
@pytest.mark.parametrize("name", ["cloud-init", "windows"])
async def test_without_tls(name: str) -> None:
    """The same provisioner in plain text keeps the whole contract; nothing is left out but what is about TLS.

    What serves it is the same for all, so that one without and one with attachments show it.
    """
    command = (sys.executable, "-m", conformance_reports.PROVISIONERS[name])
    made = await conformance(Options(start_cmd=command, insecure=True, renders=60))
    assert keeps(made), made.findings
    assert made.summary.warned == 0, made.findings
    assert made.transport == "insecure"
    kept = conformance_reports.kept(ROOT)[name]
    made = as_usual(made, kept)
    left_out = set(kept.passed) - set(made.passed)
    assert left_out == {check.id for check in all_checks() if check.needs & {Need.TLS, Need.AUTHORITY}}
    assert made.summary.unverified == kept.summary.unverified


def test_the_list_of_reports_is_fresh() -> None:
    """The page names every report that is kept."""
    page = (ROOT / conformance_reports.PAGE).read_text(encoding="utf-8")
    assert page == conformance_reports.readme(conformance_reports.kept(ROOT))


def test_the_page_has_the_figures() -> None:
    """What the suite saw at first, and what it sees now, as the lists of edits say."""
    page = " ".join((ROOT / conformance_reports.PAGE).read_text(encoding="utf-8").split())
    for name, where in _ROWS.items():
        listed = edits(name)
        first, now = sum(not edit.missed for edit in listed), sum(bool(edit.check) for edit in listed)
        assert f"| {where} | {len(listed)} | {first} | {now} |" in page


def test_the_command_line(tmp_path: Path) -> None:
    """Exit code, report and JUnit of a run as an author makes it; an endpoint where nobody is, is told in words."""
    flags = ["--endpoint", "127.0.0.1:1", "--insecure", "-o", "json", "--only", "INF"]
    nobody = _slipway("conformance", "run", *flags)
    assert nobody.returncode == 1
    assert "no server answers there" in nobody.stderr
    command = f"{sys.executable} -m slipway.provisioners.ignition"
    files = ["--report", str(tmp_path / "report.yaml"), "--junit", str(tmp_path / "out.xml")]
    done = _slipway(
        "conformance", "run", "--start-cmd", command, "--insecure", "--only", "INF-001", "-o", "json", *files
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["passed"] == ["INF-001.name"]
    assert "conformant" not in json.loads(done.stdout), "one check of many is no verdict"
    assert yaml.safe_load((tmp_path / "report.yaml").read_text(encoding="utf-8")) == json.loads(done.stdout)
    assert b'name="INF-001.name"' in (tmp_path / "out.xml").read_bytes()
    assert "[  1/1] INF-001.name: passed" in done.stderr


@pytest.mark.parametrize(
    ("version", "listed", "end", "reason"),
    [
        ("one", "INF-002.version  # since ever", (0, "KNOWN FAILURE INF-002.version"), "what is listed fails"),
        ("one", "# nothing", (1, "FAILED INF-002.version"), "what fails is not listed"),
        ("1.0.0", "INF-002.version", (1, "KNOWN FAILURE THAT PASSES INF-002.version"), "what is listed passes"),
        ("one", "INF-002.version\nINF-001.name", (1, "THAT PASSES INF-001.name"), "one of two that are listed passes"),
        ("one", "INF-002.versions", (2, "INF-002.versions"), "what is listed does not exist"),
    ],
)
def test_known_failures(version: str, listed: str, end: tuple[int, str], reason: str, tmp_path: Path) -> None:
    """Through the command: an entry must fail; one that passes, or that nobody knows, is an error."""
    program = tmp_path / "provisioner.py"
    program.write_text(_PROGRAM.format(version=version), encoding="utf-8")
    known = tmp_path / "known"
    known.write_text(f"{listed}\n", encoding="utf-8")
    done = _slipway(
        "conformance", "run", "--start-cmd", shlex.join([sys.executable, str(program)]), "--insecure", "--quiet",
        "--only", "INF-001", "--only", "INF-002", "--known-failures", str(known),
    )  # fmt: skip
    assert done.returncode == end[0], (reason, done.stdout, done.stderr)
    assert end[1] in done.stdout + done.stderr, reason


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
        [sys.executable, "-m", "slipway.cli", *arguments], check=False, capture_output=True, text=True, cwd=ROOT
    )
