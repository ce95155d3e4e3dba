"""One gRPC interceptor that runs our stages around every handler, unary or streaming.

gRPC's own interceptors surround the choice of a handler, not its run, and each costs a coroutine a call. So there
is one of them, and the stages are plain coroutines around the run.

gRPC reads the request of a unary call before it runs anything of ours, and waits for it for ever. So every method is
served as one that reads its requests itself: the first stages run before anything was read, and a request has so many
seconds to arrive.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, TypeAlias

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message

from slipway.contract.errors import BundleInvalid, DeadlineExceeded, VersionSkew
from slipway.contract.wire_entries import check_entries
from slipway.rpc import ServicerContext
from slipway.rpc.call import UNKNOWN, Call, Proceed, Stage

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


class Chain(grpc.aio.ServerInterceptor):
    """Surrounds every handler with the stages, the first one outermost."""

    def __init__(
        self, outer: Sequence[Stage], inner: Sequence[Stage], *, served_services: Sequence[str], arrival: float
    ) -> None:
        """Make the chain.

        Args:
            outer: stages before the request is read.
            inner: stages after it, around the handler.
            served_services: what the error for a caller of an unknown method names.
            arrival: seconds in which the request must have come.
        """
        self._outer = tuple(outer)
        self._inner = tuple(inner)
        self._arrival = arrival
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

        async def run(requests: AsyncIterator[Any], context: ServicerContext) -> Any:
            async def request() -> Any:
                return requests if handler.request_streaming else await self._arrived(requests)

            call = Call(service=service, method=method, streaming=handler.response_streaming)
            return await self._run(call, context, request, lambda given: _outcome(inner, given, context))

        make: Callable[..., Handler] = grpc.stream_unary_rpc_method_handler
        if handler.response_streaming:
            make = grpc.stream_stream_rpc_method_handler
        return make(run, _counted(handler.request_deserializer), handler.response_serializer)

    def _unimplemented(self) -> Handler:
        async def nothing() -> None:
            """What the call would send is not read."""

        async def refuse(nothing: None) -> Any:
            del nothing
            raise VersionSkew(
                "this server does not serve the called method; compare the versions of both sides",
                metadata={"served_services": self._served},
            )

        async def run(requests: Any, context: ServicerContext) -> Any:
            del requests
            return await self._run(Call(service=UNKNOWN, method=UNKNOWN, streaming=False), context, nothing, refuse)

        return grpc.stream_stream_rpc_method_handler(run)

    async def _arrived(self, requests: AsyncIterator[Any]) -> Any:
        timer = asyncio.timeout(self._arrival)
        try:
            async with timer:
                return await anext(requests)
        except TimeoutError:
            raise DeadlineExceeded("the request did not arrive in time; send it when the call is opened") from None
        except StopAsyncIteration:
            raise BundleInvalid("the call has no request: send one message") from None
        except DecodeError:
            raise BundleInvalid("the request is not a message of the called method's type") from None

    async def _run(
        self,
        call: Call,
        context: ServicerContext,
        request: Callable[[], Awaitable[Any]],
        handle: Callable[[Any], Awaitable[Any]],
    ) -> Any:
        async def read_and_handle() -> Any:
            message = await request()
            return await _through(self._inner, call, context, lambda: handle(message))

        return await _through(self._outer, call, context, read_and_handle)


def _counted(read: Callable[[bytes], Any] | None) -> Callable[[bytes], Any] | None:
    """Give a reader of requests that counts what is in one before it makes a message of it; bytes are left alone."""
    empty = None if read is None else read(b"")
    if read is None or not isinstance(empty, Message):
        return read
    descriptor: Any = empty.DESCRIPTOR

    def counted(data: bytes) -> Any:
        check_entries(data, descriptor)
        return read(data)

    return counted


async def _through(stages: Sequence[Stage], call: Call, context: ServicerContext, innermost: Proceed) -> Any:
    async def enter(index: int) -> Any:
        if index == len(stages):
            return await innermost()
        return await stages[index](call, context, lambda: enter(index + 1))

    return await enter(0)


async def _outcome(inner: Callable[..., Any], request: Any, context: ServicerContext) -> Any:
    """Run a handler; a generator's messages are written here, so that stages see its whole life."""
    result = inner(request, context)
    if inspect.isasyncgen(result):
        async with aclosing(result):
            async for message in result:
                await context.write(message)
        return None
    return await result if inspect.isawaitable(result) else result
