"""One gRPC interceptor that runs our stages around every handler, unary or streaming.

gRPC's own interceptors surround the choice of a handler, not its run, and each costs a coroutine a call. So there
is one of them, and the stages are plain coroutines around the run.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, TypeAlias

import grpc
import grpc.aio

from slipway.contract.errors import VersionSkew
from slipway.rpc import ServicerContext
from slipway.rpc.call import UNKNOWN, Call, Proceed, Stage

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


class Chain(grpc.aio.ServerInterceptor):
    """Surrounds every handler with the stages, the first one outermost."""

    def __init__(self, stages: Sequence[Stage], *, served_services: Sequence[str]) -> None:
        """Make the chain; ``served_services`` is what a caller of an unknown method is told."""
        self._stages = tuple(stages)
        self._served = ",".join(sorted(served_services))
        self._wrapped: dict[str, Handler] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """Give the surrounded handler of a call."""
        path = handler_call_details.method
        if path in self._wrapped:
            return self._wrapped[path]
        handler = await continuation(handler_call_details)
        if handler is None:
            return self._unimplemented()
        service, _, method = path.removeprefix("/").partition("/")
        self._wrapped[path] = self._wrap(handler, service=service, method=method)
        return self._wrapped[path]

    def _wrap(self, handler: Handler, *, service: str, method: str) -> Handler:
        inner: Any = handler.unary_unary or handler.stream_unary or handler.unary_stream or handler.stream_stream

        async def run(request: Any, context: ServicerContext) -> Any:
            call = Call(service=service, method=method, streaming=handler.response_streaming)
            return await self._run(call, context, lambda: _outcome(inner, request, context))

        make = _FACTORIES[bool(handler.request_streaming), bool(handler.response_streaming)]
        return make(run, handler.request_deserializer, handler.response_serializer)

    def _unimplemented(self) -> Handler:
        async def refuse() -> Any:
            raise VersionSkew(
                "this server does not serve the called method; compare the versions of both sides",
                metadata={"served_services": self._served},
            )

        async def run(request: Any, context: ServicerContext) -> Any:
            del request
            return await self._run(Call(service=UNKNOWN, method=UNKNOWN, streaming=False), context, refuse)

        return grpc.stream_stream_rpc_method_handler(run)

    async def _run(self, call: Call, context: ServicerContext, innermost: Proceed) -> Any:
        async def enter(index: int) -> Any:
            if index == len(self._stages):
                return await innermost()
            return await self._stages[index](call, context, lambda: enter(index + 1))

        return await enter(0)


_FACTORIES: dict[tuple[bool, bool], Callable[..., Handler]] = {
    (False, False): grpc.unary_unary_rpc_method_handler,
    (False, True): grpc.unary_stream_rpc_method_handler,
    (True, False): grpc.stream_unary_rpc_method_handler,
    (True, True): grpc.stream_stream_rpc_method_handler,
}


async def _outcome(inner: Callable[..., Any], request: Any, context: ServicerContext) -> Any:
    """Run a handler; a generator's messages are written here, so that stages see its whole life."""
    result = inner(request, context)
    if inspect.isasyncgen(result):
        async with aclosing(result):
            async for message in result:
                await context.write(message)
        return None
    return await result if inspect.isawaitable(result) else result
