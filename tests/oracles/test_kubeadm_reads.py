"""kubeadm reads what we wrote: the documents that it was given on booted machines, by its own strict loaders.

What it understood is compared with a table that was written by hand, not derived from the engine.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.oracles.booted import IMPORTED, NATIVE, in_groups, native, today_and_ours
from tools.oracles import finding, kubeadm
from tools.oracles.kubeadm import Action

pytestmark = [pytest.mark.engine, pytest.mark.timeout(120)]

EXPECTATIONS = yaml.safe_load(Path(__file__).with_name("kubeadm_expectations.yaml").read_text(encoding="utf-8"))
PROVISIONERS = ("cloud-init", "ignition")
# kubeadm looks for the file, which is the image's there and on no machine of ours.
LOADABLE = [name for name in IMPORTED if not name.startswith("discovery-by-")]


def read_by_kubeadm(name: str, provisioner: str = PROVISIONERS[0]) -> bytes:
    """What kubeadm could read when it was called."""
    state = native(name, provisioner) if name in NATIVE else today_and_ours(name)[1]
    (call,) = [one for one in state.calls if one.argv[0] == "kubeadm"]
    return call.stdin


@pytest.mark.parametrize("name", in_groups(LOADABLE))
def test_the_strict_loader_takes_imported_machines(name: str, engine: Callable[..., None]) -> None:
    """The kubeadm of the machine's side of the API change takes every field of every role."""
    engine("root-trixie", "ignition", "kubeadm-provider", "kubeadm")
    version = kubeadm.OLDER if IMPORTED[name].version.startswith("v1.30.") else kubeadm.CURRENT
    assert finding.errors(kubeadm.validate(read_by_kubeadm(name), version=version)) == []


@pytest.mark.parametrize("provisioner", PROVISIONERS)
@pytest.mark.parametrize("name", in_groups(NATIVE))
def test_the_strict_loader_takes_native_machines(name: str, provisioner: str, engine: Callable[..., None]) -> None:
    """Every role of the native example, by both first-boot systems."""
    engine("root-trixie", "ignition", "kubeadm")
    assert finding.errors(kubeadm.validate(read_by_kubeadm(name, provisioner))) == []


@pytest.mark.parametrize("name", in_groups(EXPECTATIONS))
def test_kubeadm_understands_what_was_meant(name: str, engine: Callable[..., None]) -> None:
    """Field by field, in kubeadm's own dump after its defaults."""
    engine("root-trixie", "ignition", "kubeadm-provider", "kubeadm")
    expected = EXPECTATIONS[name]
    kinds = expected.keys() - {"version"}
    assert understood(read_by_kubeadm(name), expected) == {kind: expected[kind] for kind in kinds}


def understood(documents: bytes, expected: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What kubeadm's own dump says at the paths of which something is expected."""
    action = Action.JOIN if "JoinConfiguration" in expected else Action.INIT
    dump = {
        document["kind"]: document
        for document in kubeadm.effective(documents, action=action, version=expected["version"])
    }
    kinds = expected.keys() - {"version"}
    return {kind: {path: at(dump[kind], path) for path in expected[kind]} for kind in kinds}


def at(tree: Any, path: str) -> Any:
    """What stands at a path, None where nothing does."""
    for part in path.split("."):
        if isinstance(tree, list):
            tree = tree[int(part)] if int(part) < len(tree) else None
        else:
            tree = (tree or {}).get(part)
    return tree
