"""Mutants that are nearly right: wrong once in many times, at the last moment, or by a little."""

import asyncio
import hashlib
import itertools
from collections.abc import Iterator
from typing import Any

import grpc
import grpc.aio
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status

from slipway.conformance.launcher import Setup
from slipway.provisioners.windows.provisioner import WindowsProvisioner
from slipway.v1alpha1 import content_pb2 as contentpb
from tests.services.conformance.bent import Bent, Life, Request, Response, Servicer, abort
from tests.services.conformance.mutants.bending import answered, metadata
from tests.services.conformance.mutants.mutant import Mutant


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant("a few features are named", ("FEA-004.names-many",), Bent(error=metadata("features", _cut_off)))
    yield Mutant("formats in any case", ("ERR-003.similar-format",), Bent(before=_any_case))
    yield Mutant("the time zone in the user data", ("RND-004.another-instance",), _by_environment())
    yield Mutant(
        "an expiry in whole seconds", ("RND-012.expire-time",),
        answered(lambda _, response: response.HasField("expire_time") and setattr(response.expire_time, "nanos", 0)),
    )  # fmt: skip
    yield Mutant(
        "an expiry only with user data", ("RND-009.validate-only",),
        answered(lambda request, response: response.ClearField("expire_time") if request.validate_only else None),
    )  # fmt: skip
    yield Mutant("characters are counted", ("LIM-003.user-data-limit",), Bent(call=_characters))
    yield Mutant("the request is measured, and not the bundle", ("LIM-001.largest-bundle",), Bent(call=_measured))
    yield Mutant("another answer once in twenty times", ("LIM-008.many",), _rarely())
    yield Mutant("contents that are mixed up", ("RND-003.at-once",), _mixed_contents())
    yield Mutant(
        "refusals that name a list", ("FEA-009.extended-features",),
        Bent(provisioner=WindowsProvisioner, error=_list_only),
    )  # fmt: skip
    yield Mutant("a secret in the last words", ("SEC-004.secrets-in-output",), _last_words())
    yield Mutant("bytes that are no text in an error", ("SEC-001.secrets-in-errors",), Bent(call=_repr), ("RND",))


def _cut_off(features: str) -> str:
    return features[:200]


async def _any_case(request: Request, _context: Any) -> None:
    request.format = request.format.lower()


class _Placed(Life):
    """Tells in its user data in which time zone it runs."""

    def __init__(self) -> None:
        self.zones: list[str] = []
        self.known: dict[int, str] = {}

    def heard(self, setup: Setup) -> Setup:
        self.zones.append((setup.environment or {}).get("TZ", "UTC"))
        return setup

    async def call(self, servicer: Servicer, request: Request, context: Any) -> Response:
        # Whoever was started first is called first.
        if id(servicer) not in self.known:
            self.known[id(servicer)] = self.zones[len(self.known)]
        response = await servicer.rendered(request, context)
        if response.user_data:
            response.user_data += f"# {self.known[id(servicer)]}\n".encode()
            response.sha256 = hashlib.sha256(response.user_data).digest()
        return response


def _by_environment() -> Bent:
    life = _Placed()
    return Bent(call=life.call, process=life)


async def _characters(servicer: Servicer, request: Request, context: Any) -> Response:
    asked = Request()
    asked.CopyFrom(request)
    asked.ClearField("max_user_data_bytes")
    response = await servicer.rendered(asked, context)
    size, limit = len(response.user_data.decode(errors="replace")), request.max_user_data_bytes
    if limit and size > limit:
        await abort(context, _too_large("USER_DATA_TOO_LARGE", 9, size=size, limit=limit))
    return response


async def _measured(servicer: Servicer, request: Request, context: Any) -> Response:
    if request.ByteSize() > 2 * 1024 * 1024:
        await abort(context, _too_large("BUNDLE_TOO_LARGE", 3, size=request.ByteSize(), limit=2 * 1024 * 1024))
    return await servicer.rendered(request, context)


def _too_large(reason: str, code: int, **sizes: int) -> Status:
    status = Status(code=code, message="too large")
    told = {name: str(size) for name, size in sizes.items()}
    status.details.add().Pack(ErrorInfo(reason=reason, domain="slipway.dev", metadata=told))
    return status


def _rarely() -> Bent:
    count = itertools.count(1)

    def change(_request: Request, response: Response) -> None:
        if response.user_data and next(count) % 20 == 0:
            response.user_data += b"# \n"

    return answered(change)


def _mixed_contents() -> Bent:
    """Keep what is rendered in one place for all calls."""
    newest: list[Request] = []

    async def call(servicer: Servicer, request: Request, context: Any) -> Response:
        newest[:] = [request]
        await asyncio.sleep(0.001)
        mixed = Request()
        mixed.CopyFrom(newest[0])
        mixed.request_tag = request.request_tag
        return await servicer.rendered(mixed, context)

    return Bent(call=call)


def _list_only(_request: Request, status: Status) -> None:
    for detail in status.details:
        if detail.Is(BadRequest.DESCRIPTOR):
            bad = BadRequest()
            detail.Unpack(bad)
            for violation in bad.field_violations:
                violation.field = violation.field.partition("[")[0]
            detail.Pack(bad)


class _LastWords(Life):
    """Tells at its end what it was asked last."""

    def __init__(self) -> None:
        self.asked: list[tuple[bytearray, Request]] = []

    async def call(self, servicer: Servicer, request: Request, context: Any) -> Response:
        self.asked.append((servicer.output, request))
        return await servicer.rendered(request, context)

    async def drain(self, health: Any, keeper: Any, server: grpc.aio.Server) -> int:
        for output, request in self.asked[-1:]:
            output.extend(str(request).encode())
        return await super().drain(health, keeper, server)


def _last_words() -> Bent:
    life = _LastWords()
    return Bent(call=life.call, process=life)


async def _repr(servicer: Servicer, request: Request, context: Any) -> Response:
    """Show in an error what could not be read as text."""
    values = {(one.name, one.key): one.value for one in request.bundle.secrets.secrets}
    for file in request.bundle.os.files:
        for segment in file.content.segments:
            value = values.get((segment.secret_ref.name, segment.secret_ref.key), b"")
            try:
                value.decode()
            except UnicodeDecodeError as error:
                if segment.encoding == contentpb.SPLICE_ENCODING_JSON_STRING:
                    status = Status(code=3, message=f"{error}: {value!r}")
                    status.details.add().Pack(ErrorInfo(reason="BUNDLE_INVALID", domain="slipway.dev"))
                    await abort(context, status)
    return await servicer.rendered(request, context)
