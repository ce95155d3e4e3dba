"""Asks a gateway on this machine for its health: exits with 0 when it is well, and with 1 when not.

It asks the gateway itself, whatever proxies the environment names, and follows no redirect.

For container health checks, which have no curl. Container engines split such a command at its blanks, so that it cannot
be a line of Python:

    python3 -m slipway.node_gateway.probe https://127.0.0.1:9443 /certs/ca.crt
"""

import http.client
import ssl
import sys
from collections.abc import Sequence
from urllib.parse import urlsplit

_HEALTH = "/healthz"
_SECONDS = 2.0
_USAGE = 2


def main(arguments: Sequence[str]) -> int:
    """Ask; the arguments are the gateway's address, and the file of its authorities where it has TLS."""
    if len(arguments) not in (1, 2) or not arguments[0].startswith(("https://", "http://")):
        sys.stderr.write("usage: python3 -m slipway.node_gateway.probe URL [CA_FILE]\n")
        return _USAGE
    try:
        status = _status(arguments[0], *arguments[1:])
    except (OSError, ValueError, http.client.HTTPException) as error:
        sys.stderr.write(f"the gateway does not answer: {type(error).__name__}\n")
        return 1
    if status != http.HTTPStatus.OK:
        sys.stderr.write(f"the gateway answers with status {status}\n")
        return 1
    return 0


def _status(url: str, authorities: str | None = None) -> int:
    parts = urlsplit(url)
    if parts.scheme == "https":
        context = ssl.create_default_context(cafile=authorities)
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            parts.netloc, timeout=_SECONDS, context=context
        )
    else:
        connection = http.client.HTTPConnection(parts.netloc, timeout=_SECONDS)
    try:
        connection.request("GET", f"{parts.path}{_HEALTH}")
        return connection.getresponse().status
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
