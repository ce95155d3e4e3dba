"""The command line that all servers share. Every flag is also an environment variable, SLIPWAY_<FLAG>."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from slipway.rpc.settings import ServerSettings

_Command = TypeVar("_Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--listen-address", metavar="HOST:PORT", help="Where to listen. Default: [::]:9443."),
    click.option("--advertise-address", metavar="HOST:PORT", help="Where others reach this process."),
    click.option(
        "--advertise-host",
        metavar="HOST",
        help="The same without the port, which is then the listening one. IPv6 needs no brackets.",
    ),
    click.option(
        "--tls-cert-dir",
        type=click.Path(path_type=Path, file_okay=False),
        help="Directory with tls.crt, tls.key and ca.crt; followed when the files change.",
    ),
    click.option("--insecure", is_flag=True, default=None, help="Serve without TLS, on a loopback address only."),
    click.option("--trust-domain", help="Trust domain of the SPIFFE ids. Default: slipway."),
    click.option("--registry-address", metavar="HOST:PORT", help="The registry."),
    click.option(
        "--health-address", metavar="HOST:PORT", help="Serve health alone, without TLS, for probes of a kubelet."
    ),
    click.option("--metrics-address", metavar="HOST:PORT", help="Serve Prometheus metrics by HTTP."),
    click.option("--otlp-endpoint", metavar="URL", help="Send traces and metrics by OTLP (slipway-sdk[otlp])."),
    click.option("--log-format", type=click.Choice(["auto", "json", "console"]), help="Default: auto."),
    click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), help="Default: info."),
    click.option("--production/--no-production", default=None, help="No reflection unless said."),
    click.option("--reflection/--no-reflection", default=None, help="Serve gRPC reflection."),
    click.option("--max-concurrent-calls", type=int, help="Unary calls in flight. Default: 64."),
    click.option("--drain-propagation-seconds", type=float, help="Wait after NOT_SERVING. Default: 5, insecure 0."),
    click.option("--drain-grace-seconds", type=float, help="Time for calls in flight at the end. Default: 20."),
)
FLAGS = frozenset(ServerSettings.model_fields)


def server_options(command: _Command) -> _Command:
    """Add the shared flags to a click command, which gets them as one dictionary ``server_flags``.

    Use it with ``ServerSettings.load(server_flags)``; what was not given is None there.
    """

    @functools.wraps(command)
    def gathered(*args: Any, **kwargs: Any) -> Any:
        flags = {name: kwargs.pop(name) for name in FLAGS & kwargs.keys()}
        return command(*args, server_flags=flags, **kwargs)

    decorated: Any = gathered
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]  # click's decorators give Any
