"""Documents of the clusters that are booted here."""

from typing import Any

import yaml

from tools.node import addresses
from tools.node.flavours import FLAVOURS

VERSION = FLAVOURS["1.34"].version
FORWARDING = {"name": "net.ipv4.ip_forward", "value": "1"}


def cluster(machines: dict[str, tuple[str, str]], *, name: str, version: str = VERSION) -> dict[str, Any]:
    """A SlipwayCluster whose machines are given as role and config by name."""
    return {
        "apiVersion": "bootstrap.slipway.dev/v1alpha1",
        "kind": "SlipwayCluster",
        "metadata": {"name": name},
        "spec": {
            "cluster": {
                "kubernetesVersion": version,
                "endpoint": {"host": addresses.machine(1), "port": 6443},
                "podCidrs": ["10.244.0.0/16"],
                "serviceCidrs": ["10.96.0.0/12"],
            },
            "machines": [{"name": one, "role": role, "config": config} for one, (role, config) in machines.items()],
        },
    }


def config(name: str, **spec: Any) -> dict[str, Any]:
    """A SlipwayConfig for bare metal, which does at least what kubeadm's preflight wants."""
    operating_system = {"sysctls": [FORWARDING], **spec.pop("os", {})}
    target = {"distribution": "debian", "osVersion": "13", "infrastructure": "metal"}
    return {
        "apiVersion": "bootstrap.slipway.dev/v1alpha1",
        "kind": "SlipwayConfig",
        "metadata": {"name": name},
        "spec": {"target": target, "os": operating_system, **spec},
    }


def text(*documents: dict[str, Any]) -> str:
    """The documents as YAML."""
    return yaml.safe_dump_all(documents, sort_keys=False)
