"""The way into the network of real machines, which no packet leaves: a proxy that Cluster API's programs are told of.

Core and the control plane's provider must reach the API servers of machines at the addresses that the machines
themselves use. So this process listens on loopback, by a socket that it was given from outside, and connects from
inside of the network. Programs find it by ``HTTPS_PROXY``, and nothing of this machine is changed.

::

    python -m tools.cluster.fake_infrastructure.way_in DESCRIPTOR
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys

from tools.cluster.fake_infrastructure.relaying import Ends, relay
from tools.node.site import Site

PORT = 16080
_CONNECTED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_ONLY_TUNNELS = b"HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\n\r\n"
_NOBODY = b"HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\n"
_WORDS = 3


def url(address: str) -> str:
    """What ``HTTPS_PROXY`` is set to in an environment at this address."""
    return f"http://{address}:{PORT}"


def open_into(place: Site, address: str) -> subprocess.Popen[bytes]:
    """Listen at the address for connections into a site; it ends with the calling thread.

    Raises:
        OSError: somebody else listens there.
    """
    with socket.create_server((address, PORT)) as ear:
        inside = ("setpriv", "--pdeathsig", "KILL", "--", "nsenter", f"--target={place.init}", "--net", "--")
        command = (*inside, sys.executable, "-m", __name__, str(ear.fileno()))
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[ear.fileno()])


async def serve(descriptor: int) -> None:
    """Let in who comes by the socket, until killed."""
    server = await asyncio.start_server(_tunnel, sock=socket.socket(fileno=descriptor))
    await server.serve_forever()


async def _tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        answer, there = await _connected(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        if there is not None:
            await relay((reader, writer), there)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
        pass
    finally:
        writer.close()


async def _connected(head: bytes) -> tuple[bytes, Ends | None]:
    words = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
    host, _, port = words[1].rpartition(":") if len(words) == _WORDS else ("", "", "")
    if words[0] != "CONNECT" or not host or not port.isdecimal():
        return _ONLY_TUNNELS, None
    try:
        return _CONNECTED, await asyncio.open_connection(host.strip("[]"), int(port))
    except (OSError, OverflowError):
        return _NOBODY, None


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
