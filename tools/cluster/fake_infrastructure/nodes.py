"""Nodes in a workload cluster, as kubelets of machines would register them."""

from __future__ import annotations

import base64
import datetime as dt
from typing import Any

from tools.cluster import access
from tools.cluster.client import Client
from tools.cluster.failures import Refused

Object = dict[str, Any]

PROVIDER_ID = "fake://"
_CONFLICT = 409
_HEALTHY = {"Ready": "True", "MemoryPressure": "False", "DiskPressure": "False", "PIDPressure": "False"}


def workload_client(management: Client, *, namespace: str, cluster: str) -> Client:
    """A client by the Secret with the cluster's kubeconfig; ``Refused`` with 404 while there is none."""
    secret = management.get("v1", "Secret", f"{cluster}-kubeconfig", namespace=namespace)
    return Client(access.read(base64.b64decode(secret["data"]["value"])))


def register(workload: Client, name: str, *, version: str, control_plane: bool) -> None:
    """Make the node, ready, with the provider ID of the machine of that name."""
    labels = {"node-role.kubernetes.io/control-plane": ""} if control_plane else {}
    node: Object = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"providerID": PROVIDER_ID + name},
    }
    try:
        workload.create(node)
    except Refused as refused:
        if refused.status != _CONFLICT:
            raise
    status = {"conditions": _conditions(), "nodeInfo": _info(name, version)}
    workload.patch(node, {"status": status}, subresource="status")


def _conditions() -> list[Object]:
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [
        {"type": kind, "status": status, "reason": "Fake", "lastHeartbeatTime": now, "lastTransitionTime": now}
        for kind, status in _HEALTHY.items()
    ]


def _info(name: str, version: str) -> Object:
    return {
        "kubeletVersion": version, "kubeProxyVersion": "", "containerRuntimeVersion": "fake://1", "bootID": name,
        "machineID": name, "systemUUID": name, "architecture": "amd64", "operatingSystem": "linux",
        "kernelVersion": "fake", "osImage": "fake",
    }  # fmt: skip
