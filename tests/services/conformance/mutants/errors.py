"""Mutants whose errors tell programs nothing, or the wrong thing."""

from collections.abc import Iterator
from typing import Any

from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status

from tests.services.conformance.bent import Bent, Request, Response, Servicer, abort
from tests.services.conformance.mutants.bending import change_info, metadata
from tests.services.conformance.mutants.mutant import Mutant


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant(
        "errors without details", ("ERR-001.rich-status",), Bent(call=_bare), ("FEA", "RND", "LIM"),
        why="reasons are in the details",
    )  # fmt: skip
    yield Mutant("a reason of its own", ("ERR-002.reasons",), Bent(error=_own_reason), ("FEA", "RND", "LIM"))
    yield Mutant("a reason with another code", ("ERR-002.reasons",), Bent(error=_other_code), ("FEA", "RND", "LIM"))
    yield Mutant(
        "formats that are not named", ("ERR-003.unknown-format",),
        Bent(error=metadata("served", lambda said: said and "something")),
    )  # fmt: skip
    yield Mutant("fields as people call them", ("ERR-004.field-paths",), Bent(error=_loose_paths), ("FEA",))
    yield Mutant("errors that are too large", ("ERR-005.small-status",), Bent(error=_long))
    yield Mutant(
        "violations that are cut without a word",
        ("ERR-005.counts-what-is-cut",),
        Bent(error=metadata("truncated", lambda _: "")),
    )
    yield Mutant("UNKNOWN for whatever is malformed", ("ERR-006.malformed",), Bent(call=_unknown))
    yield Mutant("metadata of its own", ("ERR-008.metadata",), Bent(error=metadata("hint", lambda _: "read the page")))


async def _bare(servicer: Servicer, request: Request, context: Any) -> Response:
    class Bare:
        async def abort(self, code: Any, message: str, trailing_metadata: Any = ()) -> None:
            await context.abort(code, message)

    return await servicer.rendered(request, Bare())


def _own_reason(_request: Request, status: Status) -> None:
    change_info(status, lambda info: setattr(info, "reason", "I_DO_NOT_WANT_TO"))


def _other_code(_request: Request, status: Status) -> None:
    status.code = 13


def _loose_paths(_request: Request, status: Status) -> None:
    for detail in status.details:
        if detail.Is(BadRequest.DESCRIPTOR):
            bad = BadRequest()
            detail.Unpack(bad)
            for violation in bad.field_violations:
                violation.field = f"the field {violation.field}"
            detail.Pack(bad)


def _long(request: Request, status: Status) -> None:
    if len(request.bundle.required_features) > 100:
        status.details.add().Pack(ErrorInfo(reason="X", domain="example.com", metadata={"long": "x" * 4000}))


async def _unknown(servicer: Servicer, request: Request, context: Any) -> Response:
    if not request.bundle.id or any(not file.path for file in request.bundle.os.files):
        await abort(context, Status(code=2, message="Exception calling application"), rich=False)
    return await servicer.rendered(request, context)
