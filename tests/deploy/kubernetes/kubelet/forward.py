"""Takes connections in one network namespace and makes them in another one: what kube-proxy and a route do elsewhere.

    forward.py LISTEN TARGET...      each NAMESPACE,HOST,PORT, where NAMESPACE is a file, or - for this machine's own

Run with the standard library only. Targets take turns; one that does not answer is left out for that connection.
"""

import asyncio
import ctypes
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import cycle
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_NETWORK = 0x40000000
_OWN = Path("/proc/thread-self/ns/net")
_CHUNK = 65536


class Place:
    """A host and a port in a namespace."""

    def __init__(self, text: str) -> None:
        namespace, self.host, port = text.split(",")
        self.port = int(port)
        self._namespace = None if namespace == "-" else Path(namespace)
        self._family = socket.AF_INET6 if ":" in self.host else socket.AF_INET

    def socket(self) -> socket.socket:
        """Make a socket, which stays in the namespace that it was made in."""
        with self._inside():
            made = socket.socket(self._family, socket.SOCK_STREAM)
        made.setblocking(False)
        return made

    @contextmanager
    def _inside(self) -> Iterator[None]:
        if self._namespace is None:
            yield
            return
        with _OWN.open() as own, self._namespace.open() as there:
            _enter(there.fileno())
            try:
                yield
            finally:
                _enter(own.fileno())


def _enter(namespace: int) -> None:
    if _LIBC.setns(namespace, _NETWORK):
        raise OSError(ctypes.get_errno(), "setns")


async def main(listen: str, *targets: str) -> None:
    """Serve until killed."""
    place, turns = Place(listen), cycle([Place(one) for one in targets])

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in targets:
            target = next(turns)
            there = target.socket()
            try:
                await asyncio.get_running_loop().sock_connect(there, (target.host, target.port))
            except OSError:
                there.close()
                continue
            back, forth = await asyncio.open_connection(sock=there)
            await asyncio.gather(_pump(reader, forth), _pump(back, writer))
            return
        writer.close()

    listening = place.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((place.host, place.port))
    server = await asyncio.start_server(serve, sock=listening)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await server.serve_forever()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    with suppress(OSError):
        writer.close()
        await writer.wait_closed()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
