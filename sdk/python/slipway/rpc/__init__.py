"""The one room that knows gRPC: server, channels, TLS, health, lifecycle, telemetry, error mapping.

Every trap of running gRPC from Python is dealt with here once, so that the other rooms hold servicers, calls and
SlipwayErrors only. They import no ``grpc``: the few types that they must name are re-exported here.
"""

from typing import Any, TypeAlias

import grpc.aio
from grpc.aio import Channel

from slipway.rpc.plain_structlog import import_structlog

import_structlog()

ServicerContext: TypeAlias = grpc.aio.ServicerContext[Any, Any]
"""What a servicer's method gets beside the request."""

__all__ = ["Channel", "ServicerContext"]
