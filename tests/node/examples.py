"""Our examples, with what a machine without a cloud cannot have taken out, or put in its place.

What an example takes from its cloud it gets here: a metadata service, the hypervisor's tool, the agent that asks for
metadata, Secrets that a controller writes, images by the names of another registry. Disks there are none.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tools.node import addresses
from tools.node.flavours import Flavour

_FOLDER = Path(__file__).parents[2] / "examples"
CLUSTER = "harbour"
ENDPOINT = addresses.machine(1)
# The older kubeadm writes a URL there that the newer Go, which it is built by here, does not read.
PROXY = "HTTPProxyCIDR"
# What images for Kubernetes have set already.
FORWARDING = "sysctl -w net.ipv4.ip_forward=1"
# What VMware's tool prints of the data that its hypervisor gives the machine.
_TOOL = {
    "path": "/usr/local/bin/vmtoolsd",
    "permissions": "0755",
    "content": '#!/bin/sh\ncase $2 in *.metadata) echo "local-hostname: $(uname -n)" ;; *) exit 1 ;; esac\n',
}
_REGISTRY, _OTHER = "registry.k8s.io", "registry.example.com"
# What a controller writes.
_SECRETS = [
    {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"{CLUSTER}-{pool}-azure-json"},
        "stringData": {f"{role}-azure.json": f'{{"cloud": "example", "role": "{role}"}}'},
    }
    for pool, role in (("linux", "worker-node"), ("control-plane", "control-plane"))
]
# What Flatcar has: the agent that units wait for; what it would tell them is asked for without it.
AGENT = {
    "name": "coreos-metadata.service",
    "contents": "[Service]\nType=oneshot\nRemainAfterExit=yes\nRuntimeDirectory=metadata\n"
    "ExecStart=/bin/touch /run/metadata/flatcar\n",
}


def variables(flavour: Flavour) -> dict[str, str]:
    """What clusterctl fills in."""
    return {
        "CLUSTER_NAME": CLUSTER,
        "KUBERNETES_VERSION": flavour.version,
        "ENDPOINT_ADDRESS": ENDPOINT,
        "ENDPOINT_HOST": ENDPOINT,
    }


def named_again(flavour: Flavour) -> str:
    """The command that gives the images of the store the names of vSphere's example, too."""
    programs = [f"kube-{one}" for one in ("apiserver", "controller-manager", "scheduler", "proxy")]
    same = [*(f"{program}:{flavour.version}" for program in programs), f"etcd:{flavour.etcd}", f"pause:{flavour.pause}"]
    named = [
        *((one, f"kubernetes/{one}") for one in same),
        (f"coredns/coredns:{flavour.coredns}", "kubernetes/coredns:v1.11.3"),
        (f"pause:{flavour.pause}", "network/virtual-address:1.4.0"),  # what runs there is of no interest
    ]
    return " && ".join(f"ctr -n k8s.io images tag {_REGISTRY}/{old} {_OTHER}/{new}" for old, new in named)


def read(example: str, flavour: Flavour) -> list[dict[str, Any]]:
    """The documents of an example, changed as far as they must be; variables are not filled in."""
    text = (_FOLDER / f"cluster-{example}.yaml").read_text(encoding="utf-8")
    held: list[dict[str, Any]] = [*yaml.safe_load_all(text), *_SECRETS]
    for one in held:
        one["metadata"].pop("namespace", None)
        if one["kind"] == "Cluster" and "controlPlaneEndpoint" in one["spec"]:
            one["spec"]["controlPlaneEndpoint"]["host"] = ENDPOINT
    for spec in configs(held).values():
        brought = [FORWARDING]
        if example == "vsphere":
            spec["files"].append(_TOOL)
        if example == "vsphere" and "clusterConfiguration" in spec:
            brought.append(named_again(flavour))
            for one in ("initConfiguration", "joinConfiguration"):
                spec[one]["nodeRegistration"]["ignorePreflightErrors"] = [PROXY]
        spec["preKubeadmCommands"] = [*brought, *spec.get("preKubeadmCommands", [])]
        if "ignition" in spec:
            more = spec["ignition"]["containerLinuxConfig"]
            added = yaml.safe_load(more["additionalConfig"])
            added["systemd"]["units"].append(AGENT)
            more["additionalConfig"] = yaml.safe_dump(added)
        for disks in ("diskSetup", "mounts"):
            spec.pop(disks, None)
    return held


def configs(held: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What the example says of its machines, by name of the object that does."""
    return {one["metadata"]["name"]: spec for one in held for spec in _configs(one)}


def _configs(one: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if one["kind"].startswith("Kubeadm"):
        spec = one["spec"].get("template", one)["spec"]
        yield spec.get("kubeadmConfigSpec", spec)


def text(held: list[dict[str, Any]]) -> str:
    """The documents as they are imported."""
    return yaml.safe_dump_all(held, width=1000)


def files(held: list[dict[str, Any]], config: str) -> list[dict[str, Any]]:
    """The files of one config in our own words; ``config`` is what is behind the cluster's in its name."""
    (spec,) = (spec for name, spec in configs(held).items() if name.rpartition("}")[2] == config)
    texts = {key: value for one in held if one["kind"] == "Secret" for key, value in one["stringData"].items()}
    return [_file(file, texts) for file in spec.get("files", [])]


def _file(one: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    content = one.get("content") or texts[one["contentFrom"]["secret"]["key"]]
    given = {"path": one["path"], "mode": one["permissions"], "content": {"text": _filled_in(content)}}
    return {**given, "append": True} if one.get("append") else given


def _filled_in(content: str) -> str:
    for name, value in {"ENDPOINT_ADDRESS:=192.0.2.40": ENDPOINT, "NETWORK_INTERFACE:=eth0": "eth0"}.items():
        content = content.replace(f"${{{name}}}", value)
    return content.replace("$$", "$")
