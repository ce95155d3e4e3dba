"""Serves what a sandboxed machine can reach, from inside of it: `network.py` says what, `sandbox_init.py` starts it.

With the standard library only, all of it imported at once: where it serves there is no tree of the host's any more.
"""

import base64
import contextlib
import fcntl
import os
import select
import socket
import ssl
import struct
import urllib.parse
from typing import Any

_SET_ADDRESS, _SET_NETMASK = 0x8916, 0x891C
_PATIENCE = 10.0
_LONGEST = 65536

Listener = tuple[socket.socket, ssl.SSLContext | None, dict[str, Any]]


def contexts(sites: list[dict[str, Any]]) -> list[ssl.SSLContext | None]:
    """What each site needs for HTTPS; to be made before the host's tree is gone."""
    return [_context(site["certificate"]) if site["certificate"] else None for site in sites]


def _context(certificate: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    held = os.memfd_create("certificate")
    os.write(held, certificate.encode())
    context.load_cert_chain(f"/proc/self/fd/{held}")
    os.close(held)
    return context


def listen(sites: list[dict[str, Any]], made: list[ssl.SSLContext | None]) -> list[Listener]:
    """Gives the machine the addresses, and listens at them."""
    for number, address in enumerate(dict.fromkeys(site["address"] for site in sites)):
        if not address.startswith("127."):
            _take(address, f"lo:{number + 1}")
    return [
        (socket.create_server((site["address"], site["port"])), context, site["answers"])
        for site, context in zip(sites, made, strict=True)
    ]


def _take(address: str, name: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for request, value in ((_SET_ADDRESS, address), (_SET_NETMASK, "255.255.255.255")):
            packed = struct.pack("16sHH4s16x", name.encode(), socket.AF_INET, 0, socket.inet_aton(value))
            fcntl.ioctl(control, request, packed)


def serve(listeners: list[Listener]) -> None:
    """Answers one request after the other until it is killed."""
    by_number = {listener[0].fileno(): listener for listener in listeners}
    waiting = select.poll()
    for number in by_number:
        waiting.register(number, select.POLLIN)
    while True:
        for number, _ in waiting.poll():
            held, context, answers = by_number[number]
            # A client that gives up, or does not trust the certificate, is its own business.
            with contextlib.suppress(OSError), held.accept()[0] as plain:
                plain.settimeout(_PATIENCE)
                with context.wrap_socket(plain, server_side=True) if context else plain as peer:
                    _answer(peer, answers)


def _answer(peer: socket.socket, answers: dict[str, Any]) -> None:
    head = b""
    while b"\r\n\r\n" not in head and len(head) < _LONGEST:
        more = peer.recv(_LONGEST)
        if not more:
            return
        head += more
    first, *lines = head.decode("latin-1").split("\r\n")
    path = urllib.parse.unquote(first.split(" ")[1])
    answer = answers.get(path, {"status": 404, "body": "", "headers": {}, "needs": ""})
    if answer["needs"] and answer["needs"] not in [line.lower() for line in lines]:
        answer = {**answer, "status": 403, "body": ""}
    body = base64.b64decode(answer["body"])
    headers = {**answer["headers"], "Content-Length": len(body), "Connection": "close"}
    header_lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    peer.sendall(f"HTTP/1.1 {answer['status']} -\r\n{header_lines}\r\n".encode() + body)
