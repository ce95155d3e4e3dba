"""Mutants of what answers, and of health."""

from collections.abc import Iterator
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio

from slipway.conformance.subject import SERVICE
from tests.services.conformance.bent import NOT_SERVING, Bent, Life, Request, Servicer
from tests.services.conformance.mutants.living import Front, living
from tests.services.conformance.mutants.mutant import ALL, Mutant


class _Answering(grpc.GenericRpcHandler):
    """Answers calls that nobody implements."""

    def __init__(self, *methods: str) -> None:
        self._methods = methods

    def service(self, handler_call_details: Any) -> Any:
        if handler_call_details.method.startswith(self._methods):
            return grpc.unary_unary_rpc_method_handler(self._answer)
        return None

    async def _answer(self, request: Any, context: Any) -> bytes:
        return b""


class _Adding(Life):
    def __init__(self, *methods: str) -> None:
        self._methods = methods

    def add(self, server: grpc.aio.Server) -> None:
        server.add_generic_rpc_handlers((_Answering(*self._methods),))


class _NotServing(Life):
    def health(self) -> Any:
        servicer = health_aio.HealthServicer()
        servicer._server_status[SERVICE] = NOT_SERVING

        async def stay(*_: Any) -> None:
            return

        servicer.set = stay
        return servicer


class _AlwaysServing(Life):
    """Says SERVING whatever it is asked."""

    def health(self) -> Any:
        class Always(health_pb2_grpc.HealthServicer):
            async def Check(self, request: Any, context: Any) -> Any:  # noqa: N802  # the service's name
                return health_pb2.HealthCheckResponse(status=1)

            async def set(self, *_: Any) -> None:
                return

            async def enter_graceful_shutdown(self) -> None:
                return

        return Always()


async def _unimplemented(servicer: Servicer, request: Request, context: Any) -> Any:
    await context.abort(grpc.StatusCode.UNIMPLEMENTED, "Method not implemented!")


class _Brittle(Front):
    """Takes garbage so badly that it never answers again."""

    def __init__(self) -> None:
        super().__init__()
        self._broken = False

    def seen(self, data: bytes) -> None:
        self._broken = self._broken or b"\xffgarbage" in data
        if self._broken:
            raise ConnectionResetError

    def choose(self, head: bytes) -> str:
        return "127.0.0.1:1" if self._broken else self.behind


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant(
        "no Render", ("TRN-001.both-calls",), Bent(call=_unimplemented),
        ("FEA", "RND", "ERR", "LIM", "SEC", "EXE"), why="everything else is about Render",
    )  # fmt: skip
    yield Mutant("a service that is not healthy", ("TRN-002.health",), living(_NotServing()))
    yield Mutant("health of strangers", ("TRN-003.health-of-a-stranger",), living(_AlwaysServing()))
    yield Mutant("calls that there are not", ("TRN-004.unknown-call",), living(_Adding(f"/{SERVICE}/No")))
    yield Mutant("garbage that breaks it", ("ERR-006.garbage",), living(_Brittle()), ALL)
    yield Mutant("every major version", ("VER-001.other-major",), living(_Adding("/slipway.v")))
