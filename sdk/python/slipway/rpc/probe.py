"""A health probe for where no other is at hand: ends with 0 when the server at HOST:PORT says that it serves."""

import asyncio
import sys

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

_SECONDS = 2.0


async def probe(target: str) -> bool:
    """Ask the health service of a plain port; False when it does not serve, or does not answer in 2 seconds."""
    async with grpc.aio.insecure_channel(target) as channel:
        try:
            answer = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=_SECONDS)
        except grpc.aio.AioRpcError:
            return False
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


if __name__ == "__main__":
    if len(sys.argv) != 2:  # noqa: PLR2004  # the program and its one argument
        sys.exit("usage: python3 -m slipway.rpc.probe HOST:PORT")
    sys.exit(0 if asyncio.run(probe(sys.argv[1])) else 1)
