"""Asks a gateway on this machine for its health: exits with 0 when it answers, and with 1 when not.

For container health checks, which have no curl. Container engines split such a command at its blanks, so that it cannot
be a line of Python:

    python3 -m slipway.node_gateway.probe https://127.0.0.1:9443 /certs/ca.crt
"""

import ssl
import sys
from collections.abc import Sequence
from urllib.error import URLError
from urllib.request import urlopen

_HEALTH = "/healthz"
_SECONDS = 2.0
_USAGE = 2


def main(arguments: Sequence[str]) -> int:
    """Ask; the arguments are the gateway's address, and the file of its authorities where it has TLS."""
    if len(arguments) not in (1, 2) or not arguments[0].startswith(("https://", "http://")):
        sys.stderr.write("usage: python3 -m slipway.node_gateway.probe URL [CA_FILE]\n")
        return _USAGE
    try:
        context = ssl.create_default_context(cafile=arguments[1]) if len(arguments) > 1 else None
        with urlopen(arguments[0] + _HEALTH, context=context, timeout=_SECONDS):  # noqa: S310  # of http, as checked
            return 0
    except (OSError, URLError) as error:
        sys.stderr.write(f"the gateway does not answer: {type(error).__name__}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
