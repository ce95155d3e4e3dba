"""What stands behind the machines of the fake infrastructure: nothing at all, or machines that boot.

The contract of Cluster API is the same for both, so is the reconciler; they differ in what these few calls do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from tools.cluster.client import Client
from tools.cluster.fake_infrastructure import definitions, nodes

Object = dict[str, Any]

_ADDRESS = "127.0.0.1"


class NotYetError(Exception):
    """Something must be there first."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a Machine, or a MachinePool for each of its machines, orders; an empty `image` is the default one."""

    namespace: str
    cluster: str
    data_secret: str
    version: str = ""
    control_plane: bool = False
    image: str = ""


class Machines(Protocol):
    """Machines by name, and the network between them; what was done already is not done again."""

    def endpoint(self, namespace: str, cluster: str) -> tuple[str, int]:
        """Host and port at which the API server of a cluster is, or will be.

        Raises:
            NotYetError: nobody knows.
        """
        ...

    def switch_on(self, name: str, order: Order) -> str:
        """See to it that a machine is on; its address.

        Raises:
            EngineError: it cannot be, for example because nothing here reads its user data.
        """
        ...

    def join(self, name: str, order: Order) -> bool:
        """Do what it takes that a machine which is on has a node, as long as it has none; False where it takes time."""
        ...

    def switch_off(self, name: str) -> None:
        """See to it that there is no such machine."""
        ...


@dataclass(frozen=True, slots=True)
class Pretended:
    """No machines: a machine is on as soon as somebody asks, and its node is made by us."""

    client: Client

    def endpoint(self, namespace: str, cluster: str) -> tuple[str, int]:
        """Where somebody has said that an API server is; see Machines."""
        del namespace
        known = self.client.find("v1", "ConfigMap", definitions.API_SERVERS, namespace=definitions.NAMESPACE)
        host, _, port = (known or {}).get("data", {}).get(cluster, "").rpartition(":")
        if not host:
            raise NotYetError(f"no API server is known for cluster {cluster}")
        return host, int(port)

    def switch_on(self, name: str, order: Order) -> str:
        """See Machines."""
        del name, order
        return _ADDRESS

    def join(self, name: str, order: Order) -> bool:
        """Make the node in the workload cluster; see Machines."""
        workload = nodes.workload_client(self.client, namespace=order.namespace, cluster=order.cluster)
        nodes.register(workload, name, version=order.version, control_plane=order.control_plane)
        return True

    def switch_off(self, name: str) -> None:
        """See Machines."""
