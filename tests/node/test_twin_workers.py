"""Workers of our examples for clouds and bare metal, imported and in our own words: the same nodes of one cluster.

What an example takes from its cloud it gets here: a metadata service, the hypervisor's tool, an image that forwards
packets. Disks there are none. Their control planes want images of other registries, disks, or a cloud that tells nodes
their addresses; those that boot here do in ``test_twins``.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.node import documents, metadata, node_state
from tests.node.harbour import SECONDS, Harbour
from tests.node.readiness import wait_ready
from tools.node import addresses
from tools.node.machine import Machine

pytestmark = [pytest.mark.xdist_group("node"), pytest.mark.timeout(1200)]

AT_ONCE = 2  # with two machines each
EXAMPLES = Path(__file__).parents[2] / "examples"
VARIABLES = {
    "CLUSTER_NAME": "harbour",
    "KUBERNETES_VERSION": documents.VERSION,
    "ENDPOINT_ADDRESS": addresses.machine(1),
    "ENDPOINT_HOST": addresses.machine(1),
}
FORWARDING = "sysctl -w net.ipv4.ip_forward=1"
# What VMware's tool prints of the data that its hypervisor gives the machine.
TOOL = {
    "path": "/usr/local/bin/vmtoolsd",
    "permissions": "0755",
    "content": '#!/bin/sh\ncase $2 in *.metadata) echo "local-hostname: $(uname -n)" ;; *) exit 1 ;; esac\n',
}
# What a controller writes.
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "harbour-linux-azure-json"},
    "stringData": {"worker-node-azure.json": '{"cloud": "example"}'},
}
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJx1d7yqPpcVd0dWwbkUOlcTDB8FKrGz1KlPDZ2S3v9n ops@example.com"


def user(name: str, **more: Any) -> dict[str, Any]:
    """The only user that the machine has, as an imported list of users means it."""
    sudo = ["ALL=(ALL) NOPASSWD:ALL"]
    return {"defaultUser": "Omit", "users": [{"name": name, "sudo": sudo, "sshAuthorizedKeys": [KEY], **more}]}


# The provider puts it on every worker, and Cluster API takes it off when it has set the labels.
UNTIL_CLUSTER_API = {"key": "node.cluster.x-k8s.io/uninitialized", "effect": "NoSchedule"}
EXTERNAL = {"name": "cloud-provider", "value": "external"}


def fact(kind: str) -> dict[str, Any]:
    """Text that only the machine knows."""
    return {"segments": [{"fact": {"kind": kind}}]}


def node(*arguments: Mapping[str, str], kind: str = "LocalHostname", **more: Any) -> dict[str, Any]:
    """A node that is named by a fact, with arguments for its kubelet, and the socket that kubeadm finds by itself."""
    taints = {"items": [*more.pop("taints", []), UNTIL_CLUSTER_API]}
    given = {"name": fact(kind), "kubeletArguments": list(arguments), "taints": taints}
    return {"node": {**given, "criSocket": "unix:///var/run/containerd/containerd.sock", **more}}


@dataclass(frozen=True)
class Twin:
    """A worker of an example, and the same in our own words.

    Attributes:
        template: its KubeadmConfigTemplate.
        infrastructure: where it runs, as our target says it.
        cloud_names: whether a metadata service gives it its name.
        native: its spec but for files, whose contents are the example's.
    """

    template: str
    infrastructure: str
    native: Mapping[str, Any]
    cloud_names: bool = False


TWINS = {
    "aws": Twin(
        "-linux",
        "aws",
        {
            "os": {
                "ntp": {"enabled": True, "servers": ["169.254.169.123"]},
                **user("harbourmaster"),
            },
            "kubernetes": node(
                EXTERNAL,
                {"name": "node-labels", "value": "example.com/pool=batch,example.com/tier=silver"},
                {"name": "max-pods", "value": "110"},
                taints=[{"key": "example.com/dedicated", "value": "batch", "effect": "NoSchedule"}],
            ),
            "commands": {
                "pre": [
                    {
                        "script": {
                            "segments": [{"text": "hostnamectl set-hostname "}, *fact("LocalHostname")["segments"]]
                        }
                    },
                    {"argv": ["sh", "-c", "/usr/local/bin/label-disks >/run/empty-disks"]},
                ]
            },
        },
        cloud_names=True,
    ),
    "azure": Twin("-linux", "azure", {"kubernetes": node(EXTERNAL)}, cloud_names=True),
    "metal": Twin(
        "rack-storage",
        "metal",
        {
            "os": user("keeper", groups=["adm"], lockPassword=True),
            "kubernetes": node(
                {"name": "node-labels", "value": "example.com/role=storage"},
                {"name": "kube-reserved", "value": "cpu=1,memory=2Gi"},
            ),
        },
    ),
    "vsphere": Twin(
        "-workers",
        "vsphere",
        {
            "os": {
                "ntp": {"enabled": True, "servers": ["ntp.example.com"]},
                **user("keeper"),
            },
            "kubernetes": node(
                EXTERNAL,
                {"name": "node-labels", "value": "example.com/zone=harbour-1"},
                kind="ShortHostname",
                criSocket="/var/run/containerd/containerd.sock",
            ),
        },
    ),
}


def imported(name: str, twin: Twin) -> tuple[str, dict[str, tuple[str, str]]]:
    """The example, with what is not here taken out or put in its place; mode and content of the worker's files."""
    held = [*yaml.safe_load_all((EXAMPLES / f"cluster-{name}.yaml").read_text(encoding="utf-8")), SECRET]
    for one in held:
        one["metadata"].pop("namespace", None)
        if one["kind"] == "Cluster" and "controlPlaneEndpoint" in one["spec"]:
            one["spec"]["controlPlaneEndpoint"]["host"] = addresses.machine(1)
    templates = {one["metadata"]["name"]: one for one in held if one["kind"] == "KubeadmConfigTemplate"}
    (spec,) = (one["spec"]["template"]["spec"] for key, one in templates.items() if key.endswith(twin.template))
    spec["preKubeadmCommands"] = [FORWARDING, *spec.get("preKubeadmCommands", [])]
    if name == "vsphere":
        spec["files"].append(TOOL)
    for disks in ("diskSetup", "mounts"):
        spec.pop(disks, None)
    texts = {key: text for one in held if one["kind"] == "Secret" for key, text in one["stringData"].items()}
    files = {
        one["path"]: (one["permissions"], one.get("content") or texts[one["contentFrom"]["secret"]["key"]])
        for one in spec.get("files", [])
    }
    return yaml.safe_dump_all(held, width=1000), files


def native(twin: Twin, files: Mapping[str, tuple[str, str]]) -> str:
    """The same in our own words."""
    given = [
        {"path": path, "mode": mode, "content": {"text": text.replace("$$", "$")}}
        for path, (mode, text) in files.items()
    ]
    spec = {**twin.native, "os": {**twin.native.get("os", {}), "files": given}}
    config = documents.config("native", **spec)
    config["spec"]["target"]["infrastructure"] = twin.infrastructure
    return documents.text(documents.cluster({"native": ("Worker", "native")}, name="harbour"), config)


def looked_at(harbour: Harbour, machine: Machine, name: str) -> Any:
    """Everything about the machine and its node that can be compared, with NAME in place of its own name."""
    found = {
        **node_state.of_machine(machine),
        **node_state.of_node(harbour.control_plane, name, machine.address),
    }
    return json.loads(json.dumps(found).replace(name, "NAME").replace(machine.address, "ADDRESS"))


@pytest.mark.parametrize("name", TWINS)
def test_an_imported_worker_is_the_same_node_as_its_native_twin(harbour: Harbour, name: str) -> None:
    """Arguments, environment, files, users, units, labels, taints and the kubelet's configuration are equal."""
    twin = TWINS[name]
    theirs, files = imported(name, twin)
    described = {"metal": "storage"}.get(name, twin.template)
    machines = {
        "theirs": harbour.joiner(f"{name}-theirs", described, variables=VARIABLES, text=theirs),
        "ours": harbour.joiner(f"{name}-ours", "native", text=native(twin, files)),
    }
    found = {}
    for whose, machine in machines.items():
        machine.wait_sentinel(timeout=SECONDS)
        full = metadata.name_of(machine.address) if twin.cloud_names else machine.name
        wait_ready(harbour.control_plane, full)
        found[whose] = looked_at(harbour, machine, full)
    said = {f"--{one['name']}={one['value']}" for one in twin.native["kubernetes"]["node"]["kubeletArguments"]}
    assert said <= set(found["theirs"]["kubelet"])
    assert any(path.endswith("/etc/kubernetes/kubelet.conf") for path in found["theirs"]["files"])
    assert found["theirs"] == found["ours"]
