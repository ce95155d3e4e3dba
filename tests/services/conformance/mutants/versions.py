"""Mutants that live in one version only."""

from collections.abc import Iterator
from typing import Any

from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from tests.services.conformance.bent import Bent, Request, Response, Servicer, abort
from tests.services.conformance.mutants.bending import append
from tests.services.conformance.mutants.mutant import Info, Mutant


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant("unknown fields are refused", ("VER-002.unknown-fields",), Bent(call=_strict))
    told: list[str] = []

    def remember(_info: Info, caller: str) -> None:
        told[:] = [caller]

    yield Mutant(
        "user data by the caller's version", ("VER-003.callers-version",),
        Bent(info=remember, after=append(lambda _: " ".join(told)).after),
    )  # fmt: skip


async def _strict(servicer: Servicer, request: Request, context: Any) -> Response:
    from google.protobuf.unknown_fields import UnknownFieldSet

    if len(UnknownFieldSet(request)) or len(UnknownFieldSet(request.bundle)):
        status = Status(code=3, message="unknown fields")
        status.details.add().Pack(ErrorInfo(reason="BUNDLE_INVALID", domain="slipway.dev"))
        await abort(context, status)
    return await servicer.rendered(request, context)
