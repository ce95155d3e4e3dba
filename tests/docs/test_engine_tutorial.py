"""The engine of the tutorial keeps the rules, and is known to every command once it is installed."""

import importlib
import re
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.bootstrapper.engines import table
from slipway.cli.command_line import cli
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/tutorials/write-an-engine.md"
FILES = re.compile(r"<!-- file: (?:dinghy/)?(?P<name>\S+) -->\n```\w+\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
DOCUMENTS = """
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayCluster
metadata: {name: c}
spec:
  cluster: {kubernetesVersion: v1.34.2, endpoint: {host: api.example.com}, controlPlane: dinghy}
  machines: [{name: m, role: Worker, config: c}]
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfig
metadata: {name: c}
spec: {kubernetes: {node: {labels: [{name: a, value: b}]}}}
"""


@pytest.fixture
def dinghy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The files of the page, in a folder from which modules are imported."""
    for match in FILES.finditer(PAGE.read_text(encoding="utf-8")):
        (tmp_path / match["name"]).write_text(match["text"], encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("dinghy", "test_dinghy"):
        sys.modules.pop(name, None)


@pytest.fixture
def installed(dinghy: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same folder, with the engine installed by its entry point."""
    (line,) = re.findall(r'^dinghy = "(.*)"$', (dinghy / "pyproject.toml").read_text(), re.MULTILINE)
    entry = EntryPoint("dinghy", line, table.GROUP)
    monkeypatch.setattr(table, "entry_points", lambda *, group: [entry] if group == entry.group else [])
    return dinghy


def test_the_engine_keeps_the_rules(dinghy: Path) -> None:
    """By the test of the page itself."""
    importlib.import_module("test_dinghy").test_dinghy_keeps_the_rules()


@pytest.mark.usefixtures("installed")
async def test_an_installed_engine_is_taken() -> None:
    """By its entry point, for a cluster whose control plane it made."""
    bootstrapper = embedded_bootstrapper(store=PlaceholderStore())
    (question,) = read_document_set({"dinghy.yaml": DOCUMENTS}, variables={}, substitute=False).questions
    for provisioner in ("cloud-init", "ignition"):
        subject = bootstrappb.Subject()
        subject.CopyFrom(question.subject)
        subject.spec.provisioner.name = provisioner
        answer = await bootstrapper.user_data(bootstrappb.GetUserDataRequest(subject=subject))
        assert "/etc/dinghy/config.json" in answer.user_data.decode()
    assert table.GROUP in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        (("explain", "--provisioner", "all", "--machine", "second"), r"^dinghy +rendered +rendered +- +refused$"),
        (
            ("explain", "--engine", "all", "--machine", "second", "-o", "json"),
            r'"machine.target.osFamily must be a family on which the bootstrap engine dinghy makes nodes. Choose linux',
        ),
        (("size", "--provisioner", "ignition"), r"\(through dinghy\)"),
        (("render", "--provisioner", "cloud-init"), r"^second  worker  bundle [0-9a-f]{16}\n  cloud-init +rendered "),
        (("bundle", "--lowered-for", "ignition", "-o", "json"), r'"/etc/dinghy/config.json"'),
        (("validate",), r"^ *second +worker +fleet .* valid"),
        (("import",), r"^ *engine: dinghy$"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_every_command_knows_an_installed_engine(installed: Path, arguments: tuple[str, ...], pattern: str) -> None:
    """By the table alone: none of them has a list of engines of its own."""
    command, *rest = arguments
    done = CliRunner().invoke(cli, [command, "-f", str(installed / "fleet.yaml"), *rest])
    assert done.exit_code == 0, done.output
    assert re.search(pattern, done.stdout, re.MULTILINE), done.stdout


@pytest.mark.parametrize(
    ("command", "expected", "status"),
    [
        (("bundle", "--lowered-for", "ignition", "-o", "json"), r'"/etc/dinghy/options.yaml"', 0),
        (("explain", "--provisioner", "ignition"), r"^extensions\[0\] +ext.dinghy.example.com/options +lowered$", 0),
        (("render", "--provisioner", "talos"), r"extensions\[0\] \(ext\.dinghy\.example\.com/options\)", 1),
    ],
    ids=["bundle", "explain", "talos"],
)
def test_the_options_of_an_installed_engine_are_its_extension(
    installed: Path, command: tuple[str, ...], expected: str, status: int
) -> None:
    """The plan has what it says; a system that bootstraps itself refuses it by its field."""
    name, *rest = command
    done = CliRunner().invoke(cli, [name, "-f", str(installed / "fleet.yaml"), "--machine", "second", *rest])
    assert done.exit_code == status, done.output
    assert re.search(expected, done.stdout, re.MULTILINE), done.stdout


def test_another_engine_refuses_the_options_of_one(installed: Path) -> None:
    """Nothing is dropped: to kubeadm the extension means nothing."""
    other = installed / "other.yaml"
    other.write_text((installed / "fleet.yaml").read_text().replace("engine: dinghy", "engine: kubeadm"))
    done = CliRunner().invoke(cli, ["render", "-f", str(other), "--machine", "second", "--provisioner", "cloud-init"])
    assert done.exit_code == 1
    assert "extensions[0] (ext.dinghy.example.com/options)" in done.stdout, done.stdout


@pytest.mark.parametrize("place", ["", "join: "])
def test_a_slip_in_the_name_of_an_engine_is_a_warning(installed: Path, place: str) -> None:
    """At its field: where the machine is rendered, the engine may be installed all the same.

    A joining machine whose engine is not that of its control plane is invalid, wherever it is rendered.
    """
    text = (installed / "fleet.yaml").read_text()
    wrong = installed / "wrong.yaml"
    wrong.write_text(
        text.replace("engine: dinghy", "engine: dingy")
        if not place
        else text + "  join: {kubernetes: {engine: dingy}}\n"
    )
    done = CliRunner().invoke(cli, ["validate", "-f", str(wrong), "--machine", "second"])
    field = f"spec.{'join.' if place else ''}kubernetes.engine"
    wanted = f"{field}: is no bootstrap engine that is installed here; did you mean dinghy?"
    assert wanted in done.stderr
    assert done.exit_code == (1 if place else 0), done.output
    assert (f"{field}: its bootstrap engine is not dinghy" in done.stderr) == bool(place)
    right = CliRunner().invoke(cli, ["validate", "-f", str(installed / "fleet.yaml")])
    assert "engine" not in right.stderr


def test_diff_compares_machines_of_an_installed_engine(installed: Path) -> None:
    """The change of its nodes is shown in neutral terms."""
    before, after = installed / "fleet.yaml", installed / "after.yaml"
    after.write_text(before.read_text().replace("value: lower", "value: upper"))
    done = CliRunner().invoke(cli, ["diff", str(before), str(after)])
    assert re.search(r"second +changed +kubernetes\.node +labels", done.stdout), done.output


def test_the_page_is_what_is_tried(dinghy: Path) -> None:
    """All its files are there; the entry point names what a file holds."""
    names = {path.name for path in dinghy.iterdir() if path.is_file()}
    assert {"dinghy.py", "test_dinghy.py", "pyproject.toml"} <= names
    made: Any = importlib.import_module("dinghy").DinghyEngine()
    assert made.name in yaml.safe_load_all(DOCUMENTS).__next__()["spec"]["cluster"]["controlPlane"]
