"""HOST:PORT as a person gives it, and why no usable server answers there, in words for a person."""

import click

from slipway.rpc.addresses import is_endpoint

_HIGHEST_PORT = 65535
_WHY = (
    ("Connection refused", "nothing listens there"),
    ("Domain name not found", "no such host is known"),
    ("WRONG_VERSION_NUMBER", "it speaks no TLS; --insecure asks it without, on this machine"),
    ("CERTIFICATE_VERIFY_FAILED", "its certificate is not of the authority in ca.crt of --tls-cert-dir"),
    ("Hostname Verification", "its certificate is for another name than that of this address"),
    ("http1.x server", "what answers there does not speak gRPC"),
    ("Socket closed", "it ended the connection: does it want TLS, by --tls-cert-dir DIR?"),
)
"""What gRPC says, in part, and what it means."""


def address(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Check an option that is HOST:PORT or empty.

    Raises:
        click.BadParameter: it is neither; gRPC would take the port modulo 65536.
    """
    if "://" in value.removeprefix("dns:///"):
        raise click.BadParameter("it takes HOST:PORT, without a scheme")
    if value and not is_endpoint(value):
        raise click.BadParameter(f"it takes HOST:PORT, with a port from 1 to {_HIGHEST_PORT}; IPv6 in brackets")
    return value


def silence(message: str) -> str:
    """Say why no usable server answers: what gRPC's message means, else the message."""
    return next((explanation for part, explanation in _WHY if part in message), message)
