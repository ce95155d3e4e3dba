"""Whether somebody serves at an address; never by way of a proxy that the environment may name."""

from __future__ import annotations

import http
import http.client
import socket
from urllib.parse import urlsplit

_TIMEOUT = 2.0


def answers_ok(url: str) -> bool:
    """Whether a plain HTTP request is answered with 200."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=_TIMEOUT)
    try:
        connection.request("GET", parts.path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def accepts(host: str, port: int) -> bool:
    """Whether somebody takes connections there."""
    try:
        with socket.create_connection((host, port), _TIMEOUT):
            return True
    except OSError:
        return False
