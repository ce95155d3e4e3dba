"""What an address may look like, and which of them stay on this machine.

Without TLS no other is listened on, nor called.
"""

import contextlib
import ipaddress
import re
import secrets
import socket

_UNGIVEN = range(15_000, 32_000)
SCHEMES = ("ipv4:", "ipv6:", "dns:")

_LOOPBACK_NAMES = ("localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback")
_OLD_ADDRESS = re.compile(r"[0-9a-fx.]+", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?\.?", re.ASCII)
_TARGET = re.compile(r"(?:dns:(?:///)?|ipv4:|ipv6:)?(\[[0-9A-Fa-f:.]+\]|[^\[\]:/]+):[0-9]{1,5}", re.ASCII)


def is_endpoint(target: str) -> bool:
    """Whether it is one host and one port: "host:port", or as gRPC writes it, "dns:///host:port", "ipv6:[::1]:1".

    gRPC's targets can do more: name sockets of this machine, other name servers, several hosts at once. None of that is
    an address that another server may give to us.
    """
    match = _TARGET.fullmatch(target)
    if match is None or port_of(target) is None:
        return False
    host = match[1]
    if host.startswith("["):
        try:
            return ipaddress.ip_address(host[1:-1]).version == 6  # noqa: PLR2004  # IPv6
        except ValueError:
            return False
    return _HOST.fullmatch(host) is not None


def can_be_listened_on(address: str) -> bool:
    """Whether it is a host and a port, which may be 0, or a socket of this machine.

    gRPC itself takes a larger port modulo 65536.
    """
    if address.startswith(("unix:", "unix-abstract:")):
        return True
    _, colon, digits = address.rpartition(":")
    return bool(colon) and (digits == "0" or port_of(address) is not None)


def joined(host: str, port: int) -> str:
    """Give "host:port" of a bare host; an IPv6 address gets its brackets, unless it has them."""
    return f"[{host}]:{port}" if ":" in host and not host.startswith("[") else f"{host}:{port}"


def host_of(target: str) -> str:
    """Give the host of "host:port" or of a gRPC target ("dns:///host:port", "ipv6:[::1]:1"); "" if none."""
    text = target
    for scheme in SCHEMES:
        if text.startswith(scheme):
            text = text.removeprefix(scheme)
            break
    if text.startswith("//"):
        text = text[2:].partition("/")[2]
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if ":" in text else text


def port_of(target: str) -> int | None:
    """Give the port of an address or target; None if it has no port from 1 to 65535."""
    digits = target.rpartition(":")[2]
    if not digits.isascii() or not digits.isdigit():
        return None
    return int(digits) if 0 < int(digits) <= 65535 else None  # noqa: PLR2004  # the largest port


def canonical_endpoint(target: str) -> str:
    """Give the one spelling of an endpoint (is_endpoint()), so that two of the same server are equal.

    Schemes, the case of letters, a dot at the end, zeros before a port, and all the ways to write an address fall away.
    All addresses of this machine's loopback are one host, and so are those that mean any address: a client that dials
    them comes to this machine. Sources: gRPC's name syntax, inet_aton(3), RFC 5952, RFC 6761.
    """
    host = host_of(target).lower().removesuffix(".")
    port = port_of(target)
    address = _address(host)
    if address is not None and (address.is_loopback or address.is_unspecified):
        host = "localhost"
    elif address is not None:
        host = address.compressed
    elif host.endswith(".localhost") or host in _LOOPBACK_NAMES:
        host = "localhost"
    return joined(host, port) if port is not None else host


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Give an address as the resolver of a client takes it: "127.1" and "0x7f000001" are addresses, too."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        if not _OLD_ADDRESS.fullmatch(host):
            return None
        try:
            return ipaddress.IPv4Address(socket.inet_aton(host))
        except OSError:
            return None
    return (isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped) or address


def is_loopback(target: str) -> bool:
    """Whether an address can only be reached from this machine."""
    if target.startswith(("unix:", "unix-abstract:")):
        return True
    host = host_of(target)
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def free_port() -> int:
    """Give a TCP port of the loopback interface that no program listens on now.

    It is below those that the system gives to clients, so that no connection takes it before a program listens on it.
    """
    while True:
        port = secrets.choice(_UNGIVEN)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
