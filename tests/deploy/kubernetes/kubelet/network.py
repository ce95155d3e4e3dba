"""A network for pods, in a namespace that nothing else on this machine is in, with the addresses of Services."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slipway.cli.processes import LOOPBACK
from slipway.rpc.addresses import free_port
from tests.deploy.kubernetes.kubelet import forward
from tools.cluster.processes import Process, Supervisor

# Without one of its own a bridge takes the lowest of its ports' addresses, and loses it with that pod: the others would
# go on sending to it until they ask again.
_HARDWARE = "02:00:00:00:01:00"
_SETUP = f"""
set -e
ip link set lo up
ip link add br0 address {_HARDWARE} type bridge
ip address add 10.77.0.1/24 dev br0
ip address add fd00:77::1/64 dev br0 nodad
ip link set br0 up
echo ready
exec sleep infinity
"""
_GATEWAYS = ("10.77.0.1", "fd00:77::1")
HERE = "-"


@dataclass
class Network:
    """A bridge; its processes end with the supervisor."""

    supervisor: Supervisor
    _holder: Process = field(init=False)
    _forwards: int = 0

    def __post_init__(self) -> None:
        command = ("unshare", "--net", "sh", "-c", _SETUP)
        self._holder = self.supervisor.process("network", command, ready=lambda: "ready" in self._holder.tail())
        self._holder.start()

    @property
    def namespace(self) -> str:
        """The file of its namespace."""
        return f"/proc/{self._holder.pid}/ns/net"

    def addresses(self, number: int) -> tuple[str, str]:
        """The addresses of a pod, IPv4 and IPv6."""
        return f"10.77.0.{10 + number}", f"fd00:77::{10 + number}"

    def order(self, number: int) -> dict[str, object]:
        """What a pod has to do to join."""
        four, six = self.addresses(number)
        return {
            "namespace": self.namespace,
            "hardware": f"02:00:00:00:00:{number:02x}",
            "addresses": [(f"{four}/24", _GATEWAYS[0]), (f"{six}/64", _GATEWAYS[1])],
        }

    def service(self, address: str, port: int, targets: Sequence[tuple[str, str, int]]) -> None:
        """Serve an address of the network by others, each NAMESPACE, host and port."""
        made = self.supervisor.process(
            f"address-{address}", ("nsenter", f"--net={self.namespace}", "ip", "address", "add", address, "dev", "lo"),
            ready=lambda: True,
        )  # fmt: skip
        made.start()
        made.wait_ended()
        self.forward((self.namespace, address, port), targets)

    def door(self, host: str, port: int) -> str:
        """Give an address on this machine that leads to one in the network."""
        own = free_port()
        self.forward((HERE, LOOPBACK, own), [(self.namespace, host, port)])
        return f"{LOOPBACK}:{own}"

    def forward(self, listen: tuple[str, str, int], targets: Sequence[tuple[str, str, int]]) -> Process:
        """Lead connections on; give the process that does it."""
        self._forwards += 1
        places = [",".join(map(str, target)) for target in (listen, *targets)]
        command = (sys.executable, "-I", "-S", "-B", str(Path(forward.__file__)), *places)
        made = self.supervisor.process(f"forward-{self._forwards}", command, ready=lambda: "ready" in made.tail())
        made.start()
        return made
