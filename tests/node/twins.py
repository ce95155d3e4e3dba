"""Machines of our examples for clouds in our own words: control planes, and one pool beside them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.node import documents, examples
from tools.node.first_disk import FirstBoot
from tools.node.flavours import FLAVOURS, Flavour

NEWEST, OLDER = FLAVOURS["1.34"], FLAVOURS["1.30"]
_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJx1d7yqPpcVd0dWwbkUOlcTDB8FKrGz1KlPDZ2S3v9n ops@example.com"
EXTERNAL = {"name": "cloud-provider", "value": "external"}
# The provider puts it on every worker, and Cluster API takes it off when it has set the labels.
UNTIL_CLUSTER_API = {"key": "node.cluster.x-k8s.io/uninitialized", "effect": "NoSchedule"}
_SOCKET = "unix:///var/run/containerd/containerd.sock"


def user(name: str, **more: Any) -> dict[str, Any]:
    """The only user that the machine has, as an imported list of users means it."""
    sudo = ["ALL=(ALL) NOPASSWD:ALL"]
    return {"defaultUser": "Omit", "users": [{"name": name, "sudo": sudo, "sshAuthorizedKeys": [_KEY], **more}]}


def fact(kind: str) -> dict[str, Any]:
    """Text that only the machine knows."""
    return {"segments": [{"fact": {"kind": kind}}]}


def node(*arguments: Mapping[str, str], kind: str = "LocalHostname", **more: Any) -> dict[str, Any]:
    """A node that is named by a fact, with arguments for its kubelet, and the socket that kubeadm finds by itself."""
    return {"node": {"name": fact(kind), "kubeletArguments": list(arguments), "criSocket": _SOCKET, **more}}


def worker(*arguments: Mapping[str, str], **more: Any) -> dict[str, Any]:
    """The same for a worker, with the taint of the provider."""
    return node(*arguments, taints={"items": [*more.pop("taints", []), UNTIL_CLUSTER_API]}, **more)


LOCAL_MODE = {"kubeadm": {"featureGates": [{"name": "ControlPlaneKubeletLocalMode", "enabled": True}]}}
"""What KubeadmControlPlane adds."""


@dataclass(frozen=True)
class Described:
    """A machine of an example.

    Attributes:
        role: as our documents say it.
        config: what is behind the cluster's in the name of the object that describes it.
        native: its spec but for files, whose contents are the example's.
    """

    role: str
    config: str
    native: Mapping[str, Any]


@dataclass(frozen=True)
class Twin:
    """The machines of an example, in our own words.

    Attributes:
        infrastructure: where they run, as our target says it.
        cluster: what the example says of the network.
        machines: by name; the first starts the cluster.
        by: what reads their user data.
        flavour: the Kubernetes that the example is for, or the newest here.
        cloud_names: whether a metadata service gives them their names.
    """

    infrastructure: str
    cluster: Mapping[str, Any]
    machines: Mapping[str, Described]
    by: FirstBoot = FirstBoot.CLOUD_INIT
    flavour: Flavour = NEWEST
    cloud_names: bool = True

    def native(self, example: str) -> str:
        """The documents."""
        held = examples.read(example, self.flavour)
        machines = {name: (machine.role, name) for name, machine in self.machines.items()}
        cluster = documents.cluster(machines, name=examples.CLUSTER, version=self.flavour.version)
        cluster["spec"]["cluster"].update(self.cluster)
        configs = []
        for name, machine in self.machines.items():
            system = {**machine.native.get("os", {}), "files": examples.files(held, machine.config)}
            configs.append(documents.config(name, **{**machine.native, "os": system}))
            configs[-1]["spec"]["target"]["infrastructure"] = self.infrastructure
        return documents.text(cluster, *configs)


_KEYS = {"keyAlgorithm": "Rsa2048"}


def _control_plane(**kubernetes: Any) -> dict[str, Any]:
    """The provider's kind of keys and its feature gate are wishes here."""
    return {"kubernetes": {"certificates": _KEYS, **kubernetes}, "engineOptions": LOCAL_MODE}


def _arguments(**values: str) -> list[dict[str, str]]:
    return [{"name": name.replace("_", "-"), "value": value} for name, value in values.items()]


def _script(text: str) -> dict[str, Any]:
    return {"script": {"text": text}}


_QUOTA = _arguments(quota_backend_bytes="8589934592")

_AWS = {
    "os": {
        "ntp": {"enabled": True, "servers": ["169.254.169.123"]},
        **user(
            "harbourmaster",
            gecos="Platform team",
            groups=["adm", "systemd-journal"],
            shell="/bin/bash",
            lockPassword=True,
        ),
    },
    **_control_plane(
        controlPlane={
            "apiServerSans": ["api.lighthouse.example.com", "127.0.0.1"],
            "apiServer": {
                "arguments": _arguments(
                    audit_log_path="/var/log/kubernetes/audit.log",
                    audit_policy_file="/etc/kubernetes/policies/audit.yaml",
                    profiling="false",
                ),
                "volumes": [
                    {
                        "name": "policies",
                        "hostPath": "/etc/kubernetes/policies",
                        "mountPath": "/etc/kubernetes/policies",
                        "readOnly": True,
                        "pathType": "Directory",
                    },
                    {
                        "name": "audit-logs",
                        "hostPath": "/var/log/kubernetes",
                        "mountPath": "/var/log/kubernetes",
                        "pathType": "DirectoryOrCreate",
                    },
                ],
            },
            "controllerManager": {
                "arguments": _arguments(cloud_provider="external", terminated_pod_gc_threshold="500")
            },
        },
        etcd={"local": {"dataDir": "/var/lib/etcd/data", "arguments": _QUOTA}},
        **node(EXTERNAL, {"name": "protect-kernel-defaults", "value": "true"}),
    ),
    "commands": {
        "pre": [
            _script("sysctl --system || :"),  # the kernel is not the machine's own
            {"argv": ["mkdir", "-p", "/var/log/kubernetes"]},
            {"argv": ["systemctl", "restart", "containerd"]},
        ],
        "post": [{"argv": ["chmod", "0600", "/etc/kubernetes/admin.conf"]}],
    },
}

_AZURE = {
    **_control_plane(
        controlPlane={
            "controllerManager": {
                "arguments": _arguments(
                    allocate_node_cidrs="false", cloud_provider="external", cluster_name=examples.CLUSTER
                )
            }
        },
        etcd={"local": {"dataDir": "/var/lib/etcddisk/etcd", "arguments": _QUOTA}},
        timeouts={"controlPlaneComponent": "20m"},
        **node(EXTERNAL),
    )
}

# What a script of the example does when it finds the configuration of the first machine.
_FIRST = (
    "sed -i 's#path: /etc/kubernetes/admin.conf#path: /etc/kubernetes/super-admin.conf#'"
    " /etc/kubernetes/manifests/virtual-address.yaml"
)
_NAMES = "127.0.0.1 $(uname -n) localhost localhost.localdomain"
_VSPHERE = {
    "os": {"ntp": {"enabled": True, "servers": ["ntp.example.com"]}, **user("keeper")},
    # The API server of newer versions does not know one of the arguments.
    "kubernetes": {
        "certificates": _KEYS,
        "controlPlane": {
            "apiServerSans": [examples.ENDPOINT, "api.beacon.example.com"],
            "apiServer": {
                "arguments": _arguments(cloud_provider="external", enable_admission_plugins="NodeRestriction")
            },
            "controllerManager": {"arguments": _arguments(cloud_provider="external", bind_address="0.0.0.0")},
            "scheduler": {"arguments": _arguments(bind_address="0.0.0.0")},
            "dns": {"imageTag": "v1.11.3"},
        },
        "images": {"repository": "registry.example.com/kubernetes"},
        **node(EXTERNAL, kind="ShortHostname", criSocket="/var/run/containerd/containerd.sock"),
    },
    "engineOptions": {"kubeadm": {"ignoredPreflightErrors": [examples.PROXY]}},
    "commands": {
        "pre": [_script(examples.named_again(OLDER)), _script(f'echo "{_NAMES}" >/etc/hosts'), _script(_FIRST)]
    },
}

_FLATCAR = {
    "os": {
        "users": [{"name": "core", "sshAuthorizedKeys": [_KEY]}],
        "systemdUnits": [{"name": "update-engine.service", "masked": True}, examples.AGENT],
    },
    **_control_plane(
        controlPlane={
            "apiServer": {"arguments": _arguments(profiling="false")},
            "controllerManager": {"arguments": _arguments(cloud_provider="external")},
        },
        timeouts={"controlPlaneComponent": "6m"},
        **node(EXTERNAL, kind="Hostname"),
    ),
}
_GENERAL = {"name": "node-labels", "value": "example.com/pool=general"}


def _machines(*machines: Described) -> dict[str, Described]:
    ends = {"Init": "-init", "ControlPlane": "-join", "Worker": ""}
    return {f"{examples.CLUSTER}{machine.config}{ends[machine.role]}": machine for machine in machines}


TWINS = {
    "aws": Twin(
        "aws",
        {"podCidrs": ["10.128.0.0/14"], "serviceCidrs": ["172.30.0.0/16"]},
        _machines(Described("Init", "-control-plane", _AWS), Described("ControlPlane", "-control-plane", _AWS)),
    ),
    "azure": Twin(
        "azure",
        {"serviceCidrs": ["10.0.0.0/16"]},
        _machines(Described("Init", "-control-plane", _AZURE)),
    ),
    "vsphere": Twin(
        "vsphere",
        {"podCidrs": ["192.168.0.0/16"]},
        _machines(Described("Init", "", _VSPHERE)),
        flavour=OLDER,
        cloud_names=False,
    ),
    "flatcar": Twin(
        "aws",
        {"podCidrs": ["192.168.0.0/16"]},
        _machines(
            Described("Init", "-control-plane", _FLATCAR),
            Described("Worker", "-pool", {"kubernetes": worker(EXTERNAL, _GENERAL, kind="Hostname")}),
        ),
        by=FirstBoot.IGNITION,
    ),
}
