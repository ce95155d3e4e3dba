"""The engine of the tutorial keeps the rules, and renders by both first-boot systems once it is installed."""

import importlib
import re
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import yaml

from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.bootstrapper.engines import table
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/tutorials/write-an-engine.md"
FILES = re.compile(r"<!-- file: dinghy/(?P<name>\S+) -->\n```\w+\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
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


def test_the_engine_keeps_the_rules(dinghy: Path) -> None:
    """By the test of the page itself."""
    importlib.import_module("test_dinghy").test_dinghy_keeps_the_rules()


async def test_an_installed_engine_is_taken(dinghy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its entry point, for a cluster whose control plane it made."""
    (line,) = re.findall(r'^dinghy = "(.*)"$', (dinghy / "pyproject.toml").read_text(), re.MULTILINE)
    entry = EntryPoint("dinghy", line, table.GROUP)
    monkeypatch.setattr(table, "entry_points", lambda *, group: [entry] if group == entry.group else [])
    bootstrapper = embedded_bootstrapper(store=PlaceholderStore())
    (question,) = read_document_set({"dinghy.yaml": DOCUMENTS}, variables={}, substitute=False).questions
    for provisioner in ("cloud-init", "ignition"):
        subject = bootstrappb.Subject()
        subject.CopyFrom(question.subject)
        subject.spec.provisioner.name = provisioner
        answer = await bootstrapper.user_data(bootstrappb.GetUserDataRequest(subject=subject))
        assert "/etc/dinghy/config.json" in answer.user_data.decode()
    assert table.GROUP in PAGE.read_text(encoding="utf-8")


def test_the_page_is_what_is_tried(dinghy: Path) -> None:
    """All its files are there; the entry point names what a file holds."""
    names = {path.name for path in dinghy.iterdir() if path.is_file()}
    assert {"dinghy.py", "test_dinghy.py", "pyproject.toml"} <= names
    made: Any = importlib.import_module("dinghy").DinghyEngine()
    assert made.name in yaml.safe_load_all(DOCUMENTS).__next__()["spec"]["cluster"]["controlPlane"]
