"""kubeadm of both sides of its API's change understands every field of a native spec.

The whole of its own dump is compared with a table that was written by hand: nothing is missing, nothing is there that
nobody asked for.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.oracles import cluster, kubeadm_machines
from tools.oracles import finding, kubeadm

pytestmark = [pytest.mark.engine, pytest.mark.timeout(120)]

NAMES = ("first", "second", "third")
LAYERS = yaml.safe_load(Path(__file__).with_name("kubeadm_native_expectations.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("version", kubeadm_machines.VERSIONS)
@pytest.mark.parametrize("name", NAMES)
def test_kubeadm_understands_all_of_it(name: str, version: str, engine: Callable[..., None]) -> None:
    """For each role, strictly: init, control-plane join and worker join."""
    engine("root-trixie", "kubeadm")
    found = kubeadm.validate(kubeadm_machines.config(name, version), version=version)
    assert finding.errors(found) == []
    expected: dict[str, Any] = {}
    for layer in LAYERS:
        if name in layer["machines"] and version in layer["versions"]:
            expected = _laid_over(expected, layer["documents"])
    assert kubeadm_machines.understood(name, version) == kubeadm_machines.leaves_of(_with_secrets(expected))


def _laid_over(below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **{key: _laid_over(below.get(key), value) for key, value in above.items()}}
    return above


def _with_secrets(tree: Any) -> Any:
    if isinstance(tree, dict) and set(tree) == {"secret"}:
        return {"token": cluster.token(), "hash": cluster.ca_hashes()[0]}[tree["secret"]]
    if isinstance(tree, dict):
        return {key: _with_secrets(value) for key, value in tree.items()}
    return [_with_secrets(value) for value in tree] if isinstance(tree, list) else tree
