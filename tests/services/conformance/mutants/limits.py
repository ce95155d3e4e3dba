"""Mutants with other limits, and with little breath."""

import asyncio
import itertools
from collections.abc import Iterator
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from tests.services.conformance.bent import Bent, Request, Response, Servicer, abort
from tests.services.conformance.mutants.mutant import Mutant

_EXHAUSTED, _UNAVAILABLE = 8, 14


async def _small(servicer: Servicer, request: Request, context: Any) -> Response:
    if request.bundle.ByteSize() > 1_000_000:
        await abort(context, Status(code=8, message="too large"), rich=False)
    return await servicer.rendered(request, context)


async def _shortened(request: Request, _context: Any) -> None:
    request.bundle.provenance.ClearField("spec_digest")


async def _no_user_data_limit(request: Request, _context: Any) -> None:
    request.max_user_data_bytes = 1 << 40


async def _only_what_is_said(request: Request, _context: Any) -> None:
    request.max_user_data_bytes = request.max_user_data_bytes or 1 << 40


async def _strict_limit(servicer: Servicer, request: Request, context: Any) -> Response:
    if request.max_user_data_bytes > 1 << 31:
        status = Status(code=3, message="too generous")
        status.details.add().Pack(ErrorInfo(reason="BUNDLE_INVALID", domain="slipway.dev"))
        await abort(context, status)
    return await servicer.rendered(request, context)


async def _few_files(servicer: Servicer, request: Request, context: Any) -> Response:
    if len(request.bundle.os.files) > 256:
        status = Status(code=3, message="too many files")
        status.details.add().Pack(ErrorInfo(reason="BUNDLE_INVALID", domain="slipway.dev"))
        await abort(context, status)
    return await servicer.rendered(request, context)


def _slow(seconds: float, *, size: int = 0) -> Bent:
    async def before(request: Request, _context: Any) -> None:
        if request.bundle.ByteSize() >= size:
            await asyncio.sleep(seconds)

    return Bent(before=before)


def _tiring() -> Bent:
    """Fail now and then, when there is much to do."""
    inside: list[int] = []
    count = itertools.count(1)

    async def call(servicer: Servicer, request: Request, context: Any) -> Response:
        inside.append(1)
        try:
            await asyncio.sleep(0.001)
            if len(inside) > 2 and next(count) % 7 == 0:
                await abort(context, Status(code=13, message="tired"))
            return await servicer.rendered(request, context)
        finally:
            inside.pop()

    return Bent(call=call)


def crowded(*, code: int, reason: str = "", retry: bool = False, most: int = 9) -> Bent:
    """Take few calls at once, and refuse the others."""
    inside: list[int] = []

    async def call(servicer: Servicer, request: Request, context: Any) -> Response:
        if len(inside) >= most:
            status = Status(code=code, message="busy")
            status.details.add().Pack(ErrorInfo(reason=reason, domain="slipway.dev"))
            if retry:
                status.details.add().Pack(RetryInfo(retry_delay=Duration(seconds=1)))
            await abort(context, status, rich=bool(reason))
        inside.append(1)
        try:
            await asyncio.sleep(0.05)
            return await servicer.rendered(request, context)
        finally:
            inside.pop()

    return Bent(call=call)


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant("small messages only", ("LIM-001.largest-bundle",), Bent(call=_small))
    yield Mutant("bundles of any size", ("LIM-002.too-large-bundle",), Bent(before=_shortened))
    yield Mutant("no limit of user data", ("LIM-003.user-data-limit",), Bent(before=_no_user_data_limit))
    yield Mutant("no limit when none is said", ("LIM-004.default-limit",), Bent(before=_only_what_is_said))
    yield Mutant("limits within reason", ("LIM-004.generous-limit",), Bent(call=_strict_limit))
    yield Mutant("few files only", ("LIM-005.many-files",), Bent(call=_few_files))
    yield Mutant("large bundles take long", ("LIM-006.in-time",), _slow(2.3, size=400_000))
    yield Mutant("every render takes long", ("LIM-007.usual-time",), _slow_sometimes())
    yield Mutant("tired now and then", ("LIM-008.many",), _tiring())
    at_once = ("LIM-009.at-once",)
    yield Mutant("no word on when to come again", at_once, crowded(code=_UNAVAILABLE, reason="OVERLOADED"))
    yield Mutant("a library's cap on calls", at_once, crowded(code=_EXHAUSTED))
    exhausted = crowded(code=_EXHAUSTED, reason="OVERLOADED", retry=True)
    yield Mutant("too many calls as if resources were exhausted", at_once, exhausted)


def _slow_sometimes() -> Bent:
    count = itertools.count(1)

    async def before(_request: Request, _context: Any) -> None:
        if next(count) % 50 == 0:
            await asyncio.sleep(1.1)

    return Bent(before=before)
