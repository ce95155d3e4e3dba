"""k0s reads what we make for it: its own validation takes each configuration, and its decoder a packed token."""

import base64
import gzip
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from slipway.bootstrapper.engines.k0s.steps import _PACK
from tests.bootstrapper.engines.k0s.conftest import Plan, plan
from tools.oracles import k0s
from tools.oracles.pytest_plugin import engine

__all__ = ["engine", "plan"]

pytestmark = pytest.mark.engine

CONFIG = "/etc/k0s/k0s.yaml"
AUDIT = "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}"
EXTERNAL = {
    "endpoints": ["https://10.0.0.9:2379"],
    "caFile": "/e/ca.crt",
    "certFile": "/e/client.crt",
    "keyFile": "/e/client.key",
}
SPECS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "much": {
        "kubernetes": {
            "controlPlane": {
                "apiServerSans": ["a.example.com", "10.0.0.2"],
                "advertiseAddress": {"value": "10.0.0.1"},
                "apiServer": {"arguments": [{"name": "v", "value": "4"}]},
                "controllerManager": {"arguments": [{"name": "v", "value": "2"}]},
                "scheduler": {"arguments": [{"name": "v", "value": "2"}]},
                "kubeProxy": {"disabled": True},
                "dns": {"disabled": True},
                "audit": {"policy": {"text": AUDIT}, "maxBackups": 2},
            },
            "etcd": {"local": {"arguments": [{"name": "quota-backend-bytes", "value": "1"}]}},
            "images": {"repository": "registry.example.com"},
        },
        "engineOptions": {"k0s": {"networkProvider": "calico"}},
    },
    "external etcd": {"kubernetes": {"etcd": {"external": EXTERNAL}}},
    "kine": {"engineOptions": {"k0s": {"kineDataSource": {"secretRef": {"name": "database", "key": "url"}}}}},
}


@pytest.fixture(autouse=True)
def _program(engine: Callable[..., None]) -> None:
    engine(k0s.PROGRAM)


@pytest.mark.parametrize("role", ["ROLE_INIT", "ROLE_CONTROL_PLANE"])
@pytest.mark.parametrize("name", SPECS)
def test_k0s_takes_the_configuration(plan: Callable[..., Plan], role: str, name: str) -> None:
    """Of the first control plane and of one that joins."""
    assert k0s.validate(plan(role, SPECS[name]).text(CONFIG).encode()) == []


def test_k0s_takes_networks_of_both_families(plan: Callable[..., Plan]) -> None:
    """Whatever comes first in the cluster's lists."""
    networks = {"podCidrs": ["fd00::/48", "10.1.0.0/16"], "serviceCidrs": ["10.2.0.0/16", "fd01::/112"]}
    assert k0s.validate(plan("ROLE_INIT", **networks).text(CONFIG).encode()) == []


@pytest.mark.parametrize(
    "change",
    [
        {"network": {"provider": "none"}},
        {"network": {"podCIDR": "10.1.0.0"}},
        {"api": {"sans": ["not a name"]}},
        {"api": {"port": 6443, "unknown": True}},
    ],
    ids=["provider", "network", "name", "unknown field"],
)
def test_k0s_refuses_what_is_wrong(plan: Callable[..., Plan], change: dict[str, Any]) -> None:
    """The tests above can fail, also for a field that k0s does not know."""
    document = plan("ROLE_INIT").document(CONFIG)
    for part, values in change.items():
        document["spec"][part] |= values
    assert k0s.validate(yaml.safe_dump(document).encode())


def test_a_token_is_packed_as_k0s_reads_it(tmp_path: Path) -> None:
    """base64 of gzip, on one line, for its owner alone."""
    source, target = tmp_path / "join.conf", tmp_path / "k0s/token"
    source.write_text("kubeconfig: " + "x" * 4000)
    subprocess.run(["sh", "-c", _PACK, "k0s", source, target], check=True)
    assert gzip.decompress(base64.b64decode(target.read_bytes(), validate=True)) == source.read_bytes()
    assert target.stat().st_mode & 0o777 == 0o600
