"""The one room that knows gRPC: server, channels, TLS, health, lifecycle, telemetry, error mapping.

Every trap of running gRPC from Python is dealt with here once, so that the other rooms hold servicers, calls and
SlipwayErrors only. They import no ``grpc``: the few types that they must name are re-exported here.
"""

import sys
from typing import Any, TypeAlias

import grpc.aio
from grpc.aio import Channel


def _import_structlog() -> None:
    """Import structlog as if rich were not installed; nothing is done where either is imported already.

    structlog imports rich, and pygments with it, wherever they are installed, to draw tracebacks on a terminal. Slipway
    logs none, but every one of its processes would hold 4 MiB for them: the command line needs rich for its tables, so
    that it is installed beside the services.
    """
    if "structlog" in sys.modules or "rich" in sys.modules:
        return
    # None in sys.modules has an import fail (Python's language reference, 5.3.1, "The module cache").
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import structlog  # noqa: F401, PLC0415  # imported for its effect, while rich is hidden
    finally:
        del sys.modules["rich"]


_import_structlog()

ServicerContext: TypeAlias = grpc.aio.ServicerContext[Any, Any]
"""What a servicer's method gets beside the request."""

__all__ = ["Channel", "ServicerContext"]
