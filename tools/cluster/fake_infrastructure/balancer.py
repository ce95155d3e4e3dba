"""The load balancer before the control planes of one cluster: an endpoint that is there before the first of them is.

Runs in the network between the machines. A file names the control planes, one address a line, and is read at each
connection; the first one that answers gets it.

::

    python -m tools.cluster.fake_infrastructure.balancer HOST PORT FILE TARGET

TARGET is the port of the control planes.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.cluster.fake_infrastructure.relaying import Ends, relay

API_SERVER = 6443
JOIN = 9443
"""Port by which further control planes of k0s join. It is not in their user data, so one cluster can have it."""


async def serve(host: str, port: int, control_planes: Path, target: int) -> None:
    """Pass connections on until killed."""

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there = await _first(_members(control_planes), target)
            if there is not None:
                await relay((reader, writer), there)
        finally:
            writer.close()

    server = await asyncio.start_server(take, host, port)
    await server.serve_forever()


def _members(listing: Path) -> Sequence[str]:
    return listing.read_text(encoding="ascii").split()


async def _first(members: Sequence[str], port: int) -> Ends | None:
    for address in members:
        try:
            return await asyncio.open_connection(address, port)
        except OSError:
            continue
    return None


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])))
