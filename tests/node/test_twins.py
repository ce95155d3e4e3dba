"""An imported KubeadmConfig of our examples makes the node that the same wishes in our own words make."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.node import documents, node_state
from tests.node.examples import FORWARDING
from tests.node.readiness import wait_ready
from tests.node.rendering import Rendering
from tests.node.twins import LOCAL_MODE, UNTIL_CLUSTER_API
from tools.node import addresses, site

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1200)]

SECONDS = 300.0
AT_ONCE = 1  # with four machines, two of them control planes
EXAMPLES = Path(__file__).parents[2] / "examples"
VARIABLES = {
    "KUBERNETES_VERSION": documents.VERSION,
    "ENDPOINT_ADDRESS": addresses.machine(1),
    "POD_CIDR": "10.244.0.0/16",
    "SERVICE_CIDR": "10.96.0.0/12",
}
ARGUMENTS = [{"name": "eviction-hard", "value": "nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%"}]
SOCKET = "unix:///run/containerd/containerd.sock"
UUID = "0f3c9a52-7e11-4c5d-9c9b-3a8f6f1d2b10"


def imported(example: str) -> str:
    """An example, with the one thing done that its machines bring along."""
    held = list(yaml.safe_load_all((EXAMPLES / f"cluster-{example}.yaml").read_text(encoding="utf-8")))
    for one in held:
        if one["kind"].startswith("Kubeadm"):
            spec = one["spec"].get("template", one)["spec"]
            spec = spec.get("kubeadmConfigSpec", spec)
            spec["preKubeadmCommands"] = [FORWARDING, *spec.get("preKubeadmCommands", [])]
    return yaml.safe_dump_all(held, width=1000)


def docker() -> str:
    """The provider's kind of keys, its feature gate and its taint are wishes here."""
    kubernetes: dict[str, Any] = {
        "controlPlane": {"apiServerSans": ["localhost", "127.0.0.1", "0.0.0.0", "host.docker.internal"]},
        "etcd": {"local": {"imageTag": "3.6.5-0"}},
        "certificates": {"keyAlgorithm": "Rsa2048"},
        "node": {
            "kubeletArguments": [*ARGUMENTS, {"name": "fail-swap-on", "value": "false"}],
            "criSocket": SOCKET,
        },
        "timeouts": {"controlPlaneComponent": "5m"},
    }
    worker = {"node": {"kubeletArguments": ARGUMENTS, "taints": {"items": [UNTIL_CLUSTER_API]}, "criSocket": SOCKET}}
    machines = {"control-plane-init": ("Init", "cp"), "md": ("Worker", "md")}
    return documents.text(
        documents.cluster(machines, name="dinghy"),
        documents.config("cp", kubernetes=kubernetes, engineOptions=LOCAL_MODE),
        documents.config("md", kubernetes=worker),
    )


def metal() -> str:
    """The control plane of bare metal: what its cloud says of it is written down."""
    held = list(yaml.safe_load_all((EXAMPLES / "cluster-metal.yaml").read_text(encoding="utf-8")))
    (secret,) = (one["stringData"] for one in held if one["kind"] == "Secret")
    folder = "/etc/kubernetes/encryption"
    files = [
        {"path": f"{folder}/encryption.yaml", "mode": "0600", "content": {"text": secret["encryption.yaml"]}},
        {"path": "/etc/keepalived/keepalived.conf", "content": {"text": "# of no use here\n"}},
    ]
    volume = {"name": "encryption", "hostPath": folder, "mountPath": folder, "readOnly": True}
    argument = {"name": "encryption-provider-config", "value": f"{folder}/encryption.yaml"}
    kubernetes = {
        "controlPlane": {"apiServer": {"arguments": [argument], "volumes": [volume]}},
        "certificates": {"keyAlgorithm": "Rsa2048"},
        "node": {
            "name": {"segments": [{"fact": {"kind": "LocalHostname"}}]},
            "kubeletArguments": [{"name": "node-labels", "value": f"metal3.io/uuid={UUID}"}],
            "criSocket": "unix:///var/run/containerd/containerd.sock",
        },
    }
    cluster = documents.cluster({"init": ("Init", "cp")}, name="anvil")
    cluster["spec"]["cluster"].update(podCidrs=["10.32.0.0/12"], serviceCidrs=["10.48.0.0/16"])
    system = {"files": files, "sysctls": [documents.FORWARDING]}
    config = documents.config("cp", os=system, kubernetes=kubernetes, engineOptions=LOCAL_MODE)
    return documents.text(cluster, config)


@dataclass(frozen=True)
class Twin:
    """An example in our own words.

    Attributes:
        native: gives it.
        machines: ends of their names; the first is the control plane, the others are workers.
        meta_data: what the cloud says of them.
    """

    native: Callable[[], str]
    machines: tuple[str, ...]
    meta_data: Mapping[str, str] = field(default_factory=dict)


TWINS = {
    "docker": Twin(docker, ("control-plane-init", "md")),
    "metal": Twin(metal, ("init",), {"uuid": UUID}),
}


def booted(place: site.Site, rendering: Rendering, twin: Twin) -> dict[str, Any]:
    """Boot the machines, and look at them when all are Ready."""
    machines = {}
    for name in twin.machines:
        (full,) = (one for one in rendering.names if one.endswith(name))
        machines[name] = place.machine(name, meta_data=twin.meta_data)
        machines[name].boot(rendering.user_data(full))
    for machine in machines.values():
        machine.wait_sentinel(timeout=SECONDS)
    first = machines[twin.machines[0]]
    wait_ready(first, *machines)
    looked = {name: node_state.of_machine(machine) for name, machine in machines.items()}
    return {**looked, "cluster": node_state.of_cluster(first)}


@pytest.mark.parametrize("example", TWINS)
def test_an_imported_example_makes_the_same_nodes_as_its_native_twin(place: site.Site, example: str) -> None:
    """Arguments, environment, files, manifests, users, units, labels, taints, configurations: all of them are equal."""
    twin = TWINS[example]
    renderings = [Rendering(imported(example), VARIABLES), Rendering(twin.native())]
    with site.opened() as other, ThreadPoolExecutor() as side_by_side:
        theirs, ours = side_by_side.map(booted, (place, other), renderings, (twin, twin))
    programs = ("kubelet", *node_state.COMPONENTS)
    leader, *workers = twin.machines
    assert [program for program in programs if not theirs[leader][program]] == []
    for worker in workers:
        assert [program for program in programs if theirs[worker][program]] == ["kubelet"]
        assert any(path.endswith("/etc/kubernetes/kubelet.conf") for path in theirs[worker]["files"])
    assert any(word.startswith("--etcd-servers=") for word in theirs[leader]["kube-apiserver"])
    for machine in twin.machines:
        assert theirs[machine] == ours[machine]
    assert theirs["cluster"] == ours["cluster"]
