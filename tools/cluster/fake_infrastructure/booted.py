"""Real machines behind the fake infrastructure: each boots from its data Secret, and nothing else is done to it.

A machine registers its node itself, by kubeadm and kubelet, with the provider ID that its user data gives to the
kubelet. Cluster API finds the Machine's node by that ID alone, so a wrong one leaves a Machine without a node for ever.
"""

from __future__ import annotations

import base64
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tools.cluster.client import Client
from tools.cluster.fake_infrastructure import balancer
from tools.cluster.fake_infrastructure.machines import Order
from tools.node import addresses
from tools.node.first_disk import FirstBoot
from tools.node.flavours import FLAVOURS
from tools.node.site import Site
from tools.oracles.failures import EngineBroken

_READERS = {"cloud-config": FirstBoot.CLOUD_INIT, "ignition": FirstBoot.IGNITION}


@dataclass(slots=True)
class ControlPlanes:
    """The control planes of one cluster behind their balancer."""

    port: int
    listing: Path
    members: dict[str, str] = field(default_factory=dict)

    def write(self) -> None:
        """Tell the balancer, which never sees half a list."""
        beside = self.listing.with_suffix(".new")
        beside.write_text("".join(f"{address}\n" for address in self.members.values()), encoding="ascii")
        beside.rename(self.listing)


@dataclass(slots=True)
class Booted:
    """Machines of a site."""

    client: Client
    place: Site
    _clusters: dict[tuple[str, str], ControlPlanes] = field(default_factory=dict)
    _namespaces: dict[str, str] = field(default_factory=dict)

    def endpoint(self, namespace: str, cluster: str) -> tuple[str, int]:
        """Where the balancer of a cluster listens; see Machines."""
        return addresses.GATEWAY, self._control_planes(namespace, cluster).port

    def switch_on(self, name: str, order: Order) -> str:
        """Boot a machine from its data Secret, once; see Machines.

        One that could not be switched on is tried again, with the disk that it has by then. What happens on a machine
        after that is its own affair, as in a cloud.

        Raises:
            EngineError: nothing here reads its user data, or what does refuses it, or another namespace has the name,
                or its image is unknown.
            Refused: the Secret cannot be read.
        """
        if self._namespaces.setdefault(name, order.namespace) != order.namespace:
            raise EngineBroken(f"a machine of namespace {self._namespaces[name]} has the host name {name} already")
        machine = self.place.machines.get(name)
        if machine is None:
            data, reader = self._user_data(order)
            machine = self.place.machine(name, flavour=_flavour(order.image))
            machine.boot(data, by=reader)
        elif not (machine.boots or machine.on):
            machine.boot()
        if order.control_plane:
            known = self._control_planes(order.namespace, order.cluster)
            known.members[name] = machine.address
            known.write()
        return machine.address

    def join(self, name: str, order: Order) -> bool:
        """Do nothing: the machine does it; see Machines."""
        del name, order
        return False

    def switch_off(self, name: str) -> None:
        """Cut the power of a machine; see Machines."""
        for cluster in self._clusters.values():
            if cluster.members.pop(name, None):
                cluster.write()
        machine = self.place.machines.get(name)
        if machine is not None and machine.on:
            machine.cut_power()

    def _user_data(self, order: Order) -> tuple[bytes, FirstBoot]:
        secret = self.client.get("v1", "Secret", order.data_secret, namespace=order.namespace)
        kind = base64.b64decode(secret["data"].get("format", "")).decode()
        if kind not in _READERS:
            raise EngineBroken(f"no machine here boots from the format {kind!r} of Secret {order.data_secret}")
        return base64.b64decode(secret["data"]["value"]), _READERS[kind]

    def _control_planes(self, namespace: str, cluster: str) -> ControlPlanes:
        key = namespace, cluster
        if key not in self._clusters:
            port = balancer.API_SERVER + len(self._clusters)
            made = self._clusters[key] = ControlPlanes(port, self.place.folder / f"control-planes-{port}")
            made.write()
            self._balance(made, port, balancer.API_SERVER)
            if port == balancer.API_SERVER:
                self._balance(made, balancer.JOIN, balancer.JOIN)
        return self._clusters[key]

    def _balance(self, members: ControlPlanes, port: int, target: int) -> None:
        options = (addresses.GATEWAY, str(port), str(members.listing), str(target))
        self.place.serve(sys.executable, "-m", balancer.__name__, *options)


def _flavour(image: str) -> str:
    """What is installed on a machine with an image.

    Raises:
        EngineBroken: there is no such image.
    """
    if image and image not in FLAVOURS:
        raise EngineBroken(f"there is no image {image!r}: choose {' or '.join(FLAVOURS)}")
    return image or next(iter(FLAVOURS))
