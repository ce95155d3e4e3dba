"""`slipway render` of machines that fetch their user data: the stub, the user data, and where they have to be."""

import asyncio
import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.services.cli.conftest import Slipway
from tests.services.node_gateway.served import gateway

BASE = "https://gateway.example.com:8443"
CANARY = "Zq7CanaryValue"
DOCUMENT = f"""
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayCluster
metadata: {{name: c}}
spec:
  cluster:
    kubernetesVersion: v1.34.2
    endpoint: {{host: 10.0.0.1, port: 6443}}
    podCidrs: [10.244.0.0/16]
    serviceCidrs: [10.96.0.0/12]
  machines: [{{name: w, role: Worker, config: k}}]
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfig
metadata: {{name: k}}
spec:
  target: {{osFamily: Linux, distribution: debian, osVersion: "12", infrastructure: metal}}
  provisioner: {{name: cloud-init}}
  delivery: {{mode: Fetch}}
  os: {{files: [{{path: /etc/canary, content: {{text: {CANARY}}}}}]}}
"""


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch, slipway: Slipway) -> Slipway:
    """Give the command line of an operator who allows it on bare metal."""
    monkeypatch.setenv("SLIPWAY_FETCH_INFRASTRUCTURES", "metal")
    monkeypatch.setenv("SLIPWAY_PAYLOAD_URL_BASE", BASE)
    return slipway


def test_what_is_written_is_what_a_gateway_serves(allowed: Slipway, write: Callable[..., Path], tmp_path: Path) -> None:
    """The stub is small and without content of the spec; the folder of the payload is one of a gateway's store.

    The note and the account say what has to be stored, and where.
    """
    out = tmp_path / "out"
    result = allowed("render", "-f", write(DOCUMENT), "-o", out)
    assert result.exit_code == 0, result.stderr
    (entry,) = json.loads((out / "summary.json").read_text())
    stub, payload = (out / entry["file"]).read_bytes(), out / entry["payload_file"]
    assert entry["payload_url"] == f"{BASE}/payload/{payload.name}"
    assert payload.parent == out / "w/payload"
    assert (payload.stat().st_mode & 0o777, payload.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    remark = f"w fetches its user data: store {entry['payload_file']} so that"
    assert remark in " ".join(result.stderr.split())
    assert len(stub) <= 2048
    assert CANARY.encode() not in stub
    assert CANARY in str(yaml.safe_load(payload.read_bytes()))
    assert hashlib.sha256(payload.read_bytes()).hexdigest().encode() in stub
    shutil.copytree(payload.parent, tmp_path / "store/payload")
    (ticket,) = re.findall(rb"Bearer ([A-Za-z0-9_-]{43})", stub)
    served = asyncio.run(_fetched(tmp_path / "store", payload.name, ticket.decode()))
    assert served == (200, payload.read_bytes())


async def _fetched(store: Path, name: str, ticket: str) -> tuple[int, bytes]:
    headers = {"Authorization": f"Bearer {ticket}"}
    async with gateway(store) as client, client.get(f"/payload/{name}", headers=headers) as answer:
        return answer.status, await answer.read()


def test_no_payload_of_an_earlier_call_stays(allowed: Slipway, write: Callable[..., Path], tmp_path: Path) -> None:
    """Secrets are drawn for each call, so the payload has another name each time, and the former one holds secrets."""
    out, document = tmp_path / "out", write(DOCUMENT)
    names = []
    for _ in range(2):
        assert allowed("render", "-f", document, "-o", out).exit_code == 0
        (payload,) = (out / "w/payload").iterdir()
        names.append(payload.name)
    assert len(set(names)) == 2


def test_standard_output_takes_no_stub(allowed: Slipway, write: Callable[..., Path]) -> None:
    """Without its payload a stub is a machine that waits for ever: refused, with the flag that helps."""
    result = allowed("render", "-f", write(DOCUMENT), "-o", "-")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "-o DIR" in result.stderr


def test_explain_and_size_show_the_stub(allowed: Slipway, write: Callable[..., Path], tmp_path: Path) -> None:
    """Both have the bytes of stub and payload against their limits; the stub is as large as that of render."""
    document, out = write(DOCUMENT), tmp_path / "out"
    (tree,) = json.loads(allowed("size", "-f", document, "-o", "json").stdout)
    delivered = tree["delivered"]
    assert (delivered["how"], delivered["limit"], delivered["payload_limit"]) == ("fetched", 2048, 1_048_576)
    allowed("render", "-f", document, "-o", out)
    (entry,) = json.loads((out / "summary.json").read_text())
    assert delivered["bytes"] == len((out / entry["file"]).read_bytes())
    words = f"fetched: a stub of {delivered['bytes']} bytes of at most 2048, a payload of "
    assert f"delivery: {words}{delivered['payload_bytes']} of at most 1048576" in " ".join(
        allowed("size", "-f", document).stdout.split()
    )
    explained = " ".join(allowed("explain", "-f", document, "--format", "cloud-config").stdout.split())
    assert f"cloud-config: {words}" in explained


def test_size_says_why_it_cannot_be_fetched(slipway: Slipway, write: Callable[..., Path]) -> None:
    """Where the operator allows nothing, the tables are there still."""
    (tree,) = json.loads(slipway("size", "-f", write(DOCUMENT), "-o", "json").stdout)
    assert tree["delivered"]["how"] == "refused"
    assert "does not allow delivery Fetch on infrastructure metal" in tree["delivered"]["words"]
    assert tree["fits"]["metal"]["fits"] == "yes"
