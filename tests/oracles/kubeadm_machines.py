"""Machines of one cluster for kubeadm, from the spec to kubeadm's own dump of what it understood."""

import socket
from collections.abc import Iterator
from functools import cache
from typing import Any

from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.oracles import ours
from tests.oracles.machines import boot_cloud_init
from tests.oracles.ours import machines
from tools.oracles import kubeadm
from tools.oracles.kubeadm import Action

FILE = "kubeadm_native.yaml"
VERSIONS = {"1.30": "v1.30.5", "1.34": "v1.34.2"}


@cache
def config(name: str, version: str) -> bytes:
    """What kubeadm could read when it was called on the machine, which cloud-init has booted."""
    question = MachineQuestion(type(machines(FILE)[name].subject)(), secretpb.SecretMaterial(), [])
    question.subject.CopyFrom(machines(FILE)[name].subject)
    question.subject.cluster.kubernetes_version = VERSIONS[version]
    state = boot_cloud_init(ours.render(question, "cloud-init").user_data)
    (call,) = [one for one in state.calls if one.argv[0] == "kubeadm"]
    return call.stdin


def understood(name: str, version: str) -> dict[str, Any]:
    """Kubeadm's own dump by kind and path, after its defaults; of documents that nobody wrote nothing."""
    action = Action.INIT if name == "first" else Action.JOIN
    documents = kubeadm.effective(config(name, version), action=action, version=version)
    written = {one["kind"]: one for one in documents if one["apiVersion"].startswith("kubeadm.")}
    for document in written.values():
        del document["apiVersion"], document["kind"]
    return leaves_of(written)


def leaves_of(documents: dict[str, Any]) -> dict[str, Any]:
    """Documents by kind as values by path; the machine's own name, which differs, is left out where nobody gave one."""
    found = dict(leaves(documents))
    return {path: value for path, value in found.items() if (path.endswith("/name"), value) != (True, node())}


@cache
def node() -> str:
    """What kubeadm takes for a node's name: the name of the machine that it is asked on."""
    return socket.gethostname().lower()


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a tree; an empty list or mapping is one, and arguments are by name."""
    if isinstance(tree, list) and tree and path.endswith("ExtraArgs" if "kubelet" in path else "/extraArgs"):
        tree = {one["name"]: one["value"] for one in tree}
    if isinstance(tree, dict) and tree:
        for key, value in tree.items():
            yield from leaves(value, f"{path}/{key}")
    elif isinstance(tree, list) and tree:
        for index, value in enumerate(tree):
            yield from leaves(value, f"{path}/{index}")
    else:
        yield path, tree
