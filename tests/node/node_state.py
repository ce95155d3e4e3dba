"""What can be compared of two nodes that run: everything that a spec decides, and nothing that only chance does."""

import json
from pathlib import Path
from typing import Any

import yaml

from tools.node.machine import Machine
from tools.oracles.failures import EngineTimeout

COMPONENTS = ("kube-apiserver", "kube-controller", "kube-scheduler", "etcd")
"""What runs on a control plane, by the fifteen letters of a name that the kernel keeps."""
_STATIC = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd")
_LISTED_SECONDS = 60.0
# Whose names or contents are made anew on each machine, or by the system below.
_BY_CHANCE = ("/etc/ssh/", "/etc/machine-id", "/etc/.pwd.lock", "/etc/kubernetes/pki/", "/etc/kubernetes/tmp/")
# Ours, and the same of the provider whose layout an imported config has.
_LAYOUT = ("/etc/slipway/", "/etc/kubeadm.yml", "/etc/kubeadm.sh", "/etc/systemd/system/kubeadm.service")
_CONFIG_MAPS = {"kubeadm-config": "ClusterConfiguration", "kubelet-config": "kubelet", "kube-proxy": "config.conf"}


def lasting_taints(node: dict[str, Any]) -> list[dict[str, Any]]:
    """The taints that somebody has asked for: those of its own the control plane takes away a while after Ready."""
    return [taint for taint in node["spec"].get("taints", []) if not taint["key"].startswith("node.kubernetes.io/")]


def _annotations(node: dict[str, Any]) -> list[str]:
    """The annotations that kubeadm and kubelet set: a controller adds its own a while after the node has come."""
    return sorted(node["metadata"]["annotations"].keys() - {"node.alpha.kubernetes.io/ttl"})


def of_machine(machine: Machine) -> dict[str, Any]:
    """How its programs were called, its files in /etc, its own users, and the units that start at boot."""
    units = machine.run(["systemctl", "list-unit-files", "--state=enabled,masked", "--no-legend", "--plain"]).output
    return {
        **{program: _arguments(machine, program) for program in ("kubelet", *COMPONENTS)},
        "environment of the kubelet": _environment(machine),
        "files": _files(machine),
        "manifests": _manifests(machine),
        "users": machine.run(["cut", "-d:", "-f1,3,6,7", "/etc/passwd"]).output.splitlines(),
        "units": [line.split()[:2] for line in units.splitlines() if not line.startswith(("kubeadm.", "slipway-"))],
        "sysctl": machine.run(["cat", "/proc/sys/net/ipv4/ip_forward"]).output,
    }


def of_node(control_plane: Machine, name: str, address: str) -> dict[str, Any]:
    """What a node is labelled and tainted with, and how its kubelet is configured, by the kubelet's own word.

    The API server cannot ask a kubelet that waits for its cloud: its node has no address.
    """
    node = _kubectl(control_plane, "get", "node", name)
    pki = "/etc/kubernetes/pki/apiserver-kubelet-client"
    asked = ["curl", "-sSk", "--cert", f"{pki}.crt", "--key", f"{pki}.key", f"https://{address}:10250/configz"]
    done = control_plane.run(asked)
    assert done.status == 0, done.errors
    return {
        "labels": node["metadata"]["labels"],
        "annotations": _annotations(node),
        "taints": lasting_taints(node),
        "provider id": node["spec"].get("providerID"),
        "capacity": node["status"]["capacity"]["pods"],
        "configuration of the kubelet": json.loads(done.output)["kubeletconfig"],
    }


def of_cluster(control_plane: Machine) -> dict[str, Any]:
    """What its nodes are labelled and tainted with, how each kubelet is configured, and what kubeadm has kept."""
    nodes = _kubectl(control_plane, "get", "nodes")["items"]
    result: dict[str, Any] = {}
    for node in nodes:
        name = node["metadata"]["name"]
        running = _kubectl(control_plane, "get", "--raw", f"/api/v1/nodes/{name}/proxy/configz")
        result[name] = {
            "labels": node["metadata"]["labels"],
            "annotations": _annotations(node),
            "taints": lasting_taints(node),
            "provider id": node["spec"].get("providerID"),
            "capacity": node["status"]["capacity"]["pods"],
            "kubelet": running["kubeletconfig"],
        }
    result.update(of_settings(control_plane))
    result["images"] = _images(control_plane, [node["metadata"]["name"] for node in nodes])
    return result


def of_settings(control_plane: Machine) -> dict[str, Any]:
    """What kubeadm has kept of its settings in the cluster."""
    result = {}
    for name, key in _CONFIG_MAPS.items():
        held = _kubectl(control_plane, "-n", "kube-system", "get", "configmap", name)["data"]
        result[name] = yaml.safe_load(held[key])
    return result


def _images(control_plane: Machine, nodes: list[str]) -> list[str]:
    """Of all pods of the system, once they are listed: a node is Ready before the last of them is.

    Raises:
        EngineTimeout: a minute was not enough; it says which are lacking.
    """
    wanted = {"coredns", *(f"{name} on {control_plane.name}" for name in _STATIC)}
    wanted |= {f"kube-proxy on {node}" for node in nodes}
    images: set[str] = set()
    lacking: set[str] = set()

    def listed() -> bool:
        pods = _kubectl(control_plane, "-n", "kube-system", "get", "pods")["items"]
        there = [(container, pod["spec"].get("nodeName")) for pod in pods for container in pod["spec"]["containers"]]
        images.clear()
        images.update(one["image"] for one, _ in there)
        lacking.clear()
        lacking.update(wanted - {one["name"] for one, _ in there} - {f"{one['name']} on {node}" for one, node in there})
        return not lacking

    try:
        control_plane.wait_until(listed, "not all pods of the system are listed", timeout=_LISTED_SECONDS, asks=True)
    except EngineTimeout as error:
        raise EngineTimeout(f"{error}\n--- lacking: {sorted(lacking)}") from None
    return sorted(images)


def _kubectl(machine: Machine, *words: str) -> Any:
    form = () if "--raw" in words else ("-o", "json")
    done = machine.run(["kubectl", *words, *form])
    assert done.status == 0, done.errors
    return json.loads(done.output)


def _arguments(machine: Machine, program: str) -> list[str]:
    """Nothing when it does not run."""
    return sorted(map(_members_in_order, _of_process(machine, program, "cmdline")))


def _members_in_order(word: str) -> str:
    """The same argument, whatever numbers the members of etcd have drawn: they are listed by them."""
    name, equals, members = word.partition("=")
    return f"{name}={','.join(sorted(members.split(',')))}" if equals and name == "--initial-cluster" else word


def _environment(machine: Machine) -> list[str]:
    of_systemd = ("INVOCATION_ID=", "JOURNAL_STREAM=", "SYSTEMD_EXEC_PID=", "MEMORY_PRESSURE_")
    return sorted(word for word in _of_process(machine, "kubelet", "environ") if not word.startswith(of_systemd))


def _of_process(machine: Machine, program: str, file: str) -> list[str]:
    """The words of a file of /proc about a process; none when there is no such process."""
    # Without a process, /proc//cmdline would be the kernel's own.
    done = machine.run(["sh", "-c", f"pid=$(pgrep -nx {program}) && cat /proc/$pid/{file}"])
    return done.output.removesuffix("\0").split("\0") if done.output else []


def _files(machine: Machine) -> list[str]:
    """Kind, mode, owner and path of what was written to /etc since the image was made."""
    below = Path(machine.disk / "etc")
    found = []
    for path in below.rglob("*"):
        name = f"/{path.relative_to(machine.disk)}"
        if path.is_dir() or name.startswith((*_BY_CHANCE, *_LAYOUT)) or _is_entry(path):
            continue
        about = path.lstat()
        found.append(f"{about.st_mode:o} {about.st_uid}:{about.st_gid} {name}")
    return sorted(found)


def _is_entry(path: Path) -> bool:
    return "slipway" in path.name or path.name == "kubeadm.service"


def _manifests(machine: Machine) -> dict[str, Any]:
    folder = machine.disk / "etc/kubernetes/manifests"
    pods = {path.name: yaml.safe_load(path.read_text()) for path in sorted(folder.glob("*.yaml"))}
    for pod in pods.values():
        for container in pod["spec"]["containers"]:
            container["command"] = list(map(_members_in_order, container.get("command", ())))
    return pods
