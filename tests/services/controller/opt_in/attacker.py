"""Attacks on the webhook's port, in a process of its own: ``python attacker.py ATTACK PORT HOST``; it ends by a signal.

It prints "open" once the attack runs, and then how many of its connections the server has ended.
"""

import asyncio
import contextlib
import ssl
import sys
from collections.abc import Awaitable, Callable

CONNECTIONS = 60
"""Of one host; the server lets it have fewer."""

_HEAD = b"POST /opt-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
_LARGEST = 8 * 2**20


async def _opened(port: int, host: str, *, tls: bool = True) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return await asyncio.open_connection(
        "127.0.0.1", port, ssl=context if tls else None, local_addr=(host, 0), limit=2**16
    )


async def _trickle(writer: asyncio.StreamWriter, data: bytes) -> None:
    """Send a byte now and then, for ever."""
    for byte in data:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.05)


async def slow_greetings(port: int, host: str) -> None:
    """Connect and send no greeting of TLS."""
    reader, _ = await _opened(port, host, tls=False)
    await reader.read()


async def idle(port: int, host: str) -> None:
    """Connect by TLS and send nothing."""
    reader, _ = await _opened(port, host)
    await reader.read()


async def slow_headers(port: int, host: str) -> None:
    """Send a header byte by byte."""
    _, writer = await _opened(port, host)
    await _trickle(writer, _HEAD + b"x: " + b"y" * 10_000)


async def slow_bodies(port: int, host: str) -> None:
    """Send a body byte by byte."""
    _, writer = await _opened(port, host)
    writer.write(_HEAD + b"Content-Length: 10000\r\n\r\n")
    await _trickle(writer, b"[" * 10_000)


async def _post(port: int, host: str, body: bytes, *, chunked: bool = False) -> None:
    reader, writer = await _opened(port, host)
    length = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % len(body)
    writer.write(_HEAD + length + b"\r\n\r\n")
    if chunked:
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    for start in range(0, len(body), 2**16):
        writer.write(body[start : start + 2**16])
        await writer.drain()
    await reader.read()


async def big_bodies(port: int, host: str) -> None:
    """Send the longest body that is read: many small values."""
    await _post(port, host, b"[" + b'{"":1},' * ((_LARGEST - 100) // 7) + b"1]")


async def big_chunks(port: int, host: str) -> None:
    """Send it without its length."""
    await _post(port, host, b"[" + b"{}," * ((_LARGEST - 100) // 3) + b"1]", chunked=True)


async def deep_bodies(port: int, host: str) -> None:
    """Send a body that is nested without end."""
    await _post(port, host, b"[" * 2**20)


ATTACKS: dict[str, Callable[[int, str], Awaitable[None]]] = {
    attack.__name__: attack
    for attack in (slow_greetings, idle, slow_headers, slow_bodies, big_bodies, big_chunks, deep_bodies)
}


async def main(attack: str, port: int, host: str) -> None:
    """Attack by many connections, each of them again when it has been ended."""
    ended = 0

    async def again() -> None:
        nonlocal ended
        while True:
            with contextlib.suppress(OSError, EOFError):
                await ATTACKS[attack](port, host)
            ended += 1
            sys.stdout.write(f"{ended}\n")
            sys.stdout.flush()
            await asyncio.sleep(0.01)

    attackers = [asyncio.ensure_future(again()) for _ in range(CONNECTIONS)]
    await asyncio.sleep(0.2)
    sys.stdout.write("open\n")
    sys.stdout.flush()
    await asyncio.gather(*attackers)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
