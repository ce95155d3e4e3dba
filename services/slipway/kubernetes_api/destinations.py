"""Which addresses a service may call because a kubeconfig in some namespace says so.

The author of that Secret chooses the server. Without a check they could make the service call what only it can
reach: programs in its own pod, the metadata service of its machine, services of the management cluster.
"""

import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from string import hexdigits

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from slipway.kubernetes_api.kubeconfig import KubeconfigRefused

_IN_CLUSTER = (".svc", ".cluster.local", ".localhost", ".local")
"""Endings of names that mean something inside of a cluster, or on one machine, only."""

_METADATA = tuple(
    map(
        ip_network,
        (
            "100.100.100.200/32",  # Alibaba Cloud
            "168.63.129.16/32",  # Azure's WireServer, which also hands out certificates and settings of extensions
            "192.0.0.192/32",  # Oracle Cloud Infrastructure Classic
            "fd00:42::42/128",  # Scaleway
            "fd00:c1::a9fe:a9fe/128",  # Oracle Cloud Infrastructure
            "fd00:ec2::/32",  # Amazon EC2
            "fd20:ce::254/128",  # Google Compute Engine
        ),
    )
)
"""Services of a machine's cloud at addresses that are not link-local, by the clouds' documentation."""

_TRANSLATED = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"), ip_network("::/96"))
"""Networks whose last four bytes may be an IPv4 address: RFC 6052, RFC 8215, RFC 4291."""

_TUNNELS = (ip_network("2001::/32"), ip_network("::ffff:0:0:0/96"))
"""Networks of addresses that stand for others by a tunnel or a translator: RFC 4380, RFC 2765."""

Address = IPv4Address | IPv6Address


class Destinations:
    """The servers that kubeconfigs of workload clusters may name."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        """Allow every public and private address, and of the others these.

        Args:
            allowed: networks in CIDR notation, addresses, and names; a name that begins with a dot stands for every
                name that ends so.

        Raises:
            ValueError: an entry is something else.
        """
        self._networks: list[IPv4Network | IPv6Network] = []
        self._names: set[str] = set()
        for entry in allowed:
            if _is_address(entry.partition("/")[0]):
                self._networks.append(ip_network(entry, strict=False))
            elif entry and "/" not in entry and entry.isascii() and entry.isprintable() and " " not in entry:
                self._names.add(entry.lower().rstrip("."))
            else:
                raise ValueError("an entry must be a network, an address, or a name")
        self._own = frozenset(_own_addresses())

    def check(self, host: str) -> None:
        """Return when a server of this name or address may be called; the addresses of a name are checked later.

        Raises:
            KubeconfigRefused: it may not.
        """
        if _is_address(host):
            if not self.allows(host):
                raise KubeconfigRefused(
                    "the kubeconfig's server is an address of this machine or of the management cluster; the operator "
                    "can allow it (--workload-servers)"
                )
            return
        name = host.lower().rstrip(".")
        # Clients read "127.1" as an address, and take signs of other scripts for digits.
        if not name.isascii() or _ends_as_number(name):
            raise KubeconfigRefused(
                "the kubeconfig's server is neither a name in ASCII nor an address in its usual form"
            )
        if not self.names(name) and ("." not in name or f".{name}".endswith(_IN_CLUSTER) or ".svc." in name):
            raise KubeconfigRefused(
                "the kubeconfig's server has a name of the management cluster's own; the operator can allow it "
                "(--workload-servers)"
            )

    def names(self, host: str) -> bool:
        """Return whether the operator has allowed this name."""
        name = host.lower().rstrip(".")
        return any(
            f".{name}".endswith(pattern) if pattern.startswith(".") else name == pattern for pattern in self._names
        )

    def allows(self, address: str) -> bool:
        """Return whether an address may be called."""
        mapped = _meant(ip_address(address.partition("%")[0]))
        if any(mapped in network for network in self._networks if network.version == mapped.version):
            return True
        return not (
            mapped.is_loopback
            or mapped.is_link_local
            or mapped.is_unspecified
            or mapped.is_multicast
            or mapped in self._own
            or any(mapped in network for network in (*_METADATA, *_TUNNELS) if network.version == mapped.version)
        )


class CheckedResolver(AbstractResolver):
    """Finds the addresses of a name, and gives those that may be called.

    The check is made for each connection, of the very addresses that are then called: a name cannot mean something else
    in between.
    """

    def __init__(self, destinations: Destinations) -> None:
        """Ask the system's resolver."""
        self._destinations = destinations
        self._system = aiohttp.ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Give the addresses.

        Raises:
            OSError: there are none, or none that may be called.
        """
        allowed = self._destinations.names(host)
        # The dot at the end keeps the search domains of a pod away: NAME.NAMESPACE would be a Service.
        addresses = await self._system.resolve(host if allowed else f"{host.rstrip('.')}.", port, family)
        kept = [entry for entry in addresses if allowed or self._destinations.allows(entry["host"])]
        for entry in kept:
            entry["hostname"] = host
        if not kept:
            raise OSError("the name has only addresses that may not be called")
        return kept

    async def address(self, host: str) -> str:
        """Give an address of a name that may be called; an address is its own.

        Raises:
            OSError: there is none.
        """
        if _is_address(host):
            return host
        return (await self.resolve(host))[0]["host"]

    async def close(self) -> None:
        """End."""
        await self._system.close()


def _own_addresses() -> Iterator[Address]:
    """Give the addresses of this pod, and of the Services of its namespace, that of the API server among them.

    A kubelet puts the Services into the environment. Those of other namespaces, and other pods, are not known here:
    the operator's NetworkPolicies keep calls from them.
    """
    for name, value in os.environ.items():
        if name.endswith("_SERVICE_HOST") and _is_address(value):
            yield ip_address(value)
    with suppress(OSError):
        for *_, address in socket.getaddrinfo(socket.gethostname(), None):
            yield ip_address(str(address[0]).partition("%")[0])


def _meant(address: Address) -> Address:
    """Give the IPv4 address that one of IPv6 stands for, or itself."""
    if isinstance(address, IPv4Address) or address.is_loopback or address.is_unspecified:
        return address
    embedded = address.ipv4_mapped or address.sixtofour
    if embedded is None and any(address in network for network in _TRANSLATED):
        embedded = IPv4Address(int(address) & 0xFFFFFFFF)
    return embedded or address


def _ends_as_number(name: str) -> bool:
    """Return whether a name is an address to a client: its last label is a number (WHATWG URL, "ends in a number")."""
    last = name.rpartition(".")[2]
    return last.isdigit() or (last.startswith("0x") and all(sign in hexdigits for sign in last[2:]))


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
