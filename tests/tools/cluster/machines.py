"""Machines as the tests here look at them."""

from pathlib import Path
from typing import Any

from tools.cluster.environment import Environment
from tools.cluster.topology import CORE

Object = dict[str, Any]

SECONDS = 180.0


def status(seen: Object) -> Object:
    """The status, which is not there at first."""
    found: Object = seen.get("status", {})
    return found


def is_provisioned(cluster: Object) -> bool:
    """Whether core knows of the infrastructure of a Cluster."""
    return bool(status(cluster).get("initialization", {}).get("infrastructureProvisioned"))


def worker_of(cluster: Environment, pool: str, namespace: str) -> str:
    """The name of the only Machine of a MachineDeployment, as soon as there is one."""
    cluster.client.until(
        CORE,
        "MachineDeployment",
        pool,
        lambda one: status(one).get("replicas"),
        namespace=namespace,
        seconds=SECONDS,
    )
    (machine,) = cluster.client.list(CORE, "Machine", namespace=namespace, selector=f"pool={pool}")
    return str(machine["metadata"]["name"])


def running(cluster: Environment, name: str, namespace: str) -> Object:
    """The Machine once it runs."""
    return cluster.client.until(
        CORE,
        "Machine",
        name,
        lambda one: status(one).get("phase") == "Running",
        namespace=namespace,
        seconds=SECONDS,
    )


def left_of(directory: Path) -> list[str]:
    """The command lines of processes that work in an environment's directory."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = process.read_bytes().decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if str(directory) in command:
            found.append(command)
    return found
