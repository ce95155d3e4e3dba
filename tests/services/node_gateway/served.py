"""A gateway that serves a folder of a test."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from slipway.node_gateway.downloads import Downloads
from slipway.node_gateway.server import listening
from slipway.node_gateway.settings import GatewaySettings
from slipway.node_gateway.store import Store

CONTENT = bytes(range(256)) * 1024
DIGEST = hashlib.sha256(CONTENT).hexdigest()
TICKET = "ticket-of-machine-a"
PAYLOAD = hashlib.sha256(TICKET.encode()).hexdigest()


def fill(folder: Path) -> Path:
    """Put a file and a payload into a folder, with something beside them that nobody may get."""
    for path, data in ((f"sha256/{DIGEST}", CONTENT), (f"payload/{PAYLOAD}", b"#cloud-config\n"), ("secret", b"no")):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


@asynccontextmanager
async def gateway(
    folder: Path, *, downloads: Downloads | None = None, **settings: Any
) -> AsyncIterator[aiohttp.ClientSession]:
    """Serve a folder; give a client of it."""
    transport = {} if "tls_cert_dir" in settings else {"insecure": True}
    loaded = GatewaySettings.load(
        {"listen_address": "127.0.0.1:0", **transport},
        store=f"file://{fill(folder)}",
        drain_grace_seconds=1.0,
        **settings,
    )
    async with listening(loaded, Store.of(loaded.store), downloads=downloads) as port:
        scheme = "https" if "tls_cert_dir" in settings else "http"
        async with aiohttp.ClientSession(f"{scheme}://127.0.0.1:{port}", auto_decompress=False) as client:
            yield client
