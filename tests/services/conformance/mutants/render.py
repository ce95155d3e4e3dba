"""Mutants of which Render is no pure function, or says something else than it does."""

import asyncio
import gzip
import hashlib
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from slipway.provisioners.windows.provisioner import WindowsProvisioner
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.services.conformance.bent import Bent, Request, Response, Servicer, abort
from tests.services.conformance.mutants.bending import (
    answered,
    append,
)
from tests.services.conformance.mutants.mutant import ALL, Mutant


def _mixed_up() -> Bent:
    """Keep the newest request in one place for all calls."""
    newest: list[Request] = []

    async def call(servicer: Servicer, request: Request, context: Any) -> Response:
        newest[:] = [request]
        await asyncio.sleep(0.001)
        response = await servicer.rendered(request, context)
        response.request_tag = newest[0].request_tag
        return response

    return Bent(call=call)


def _stuck() -> Bent:
    """Lose its place in a queue whenever a caller gives up."""
    lost: list[int] = []

    async def call(servicer: Servicer, request: Request, context: Any) -> Response:
        if len(lost) > 2:
            await asyncio.sleep(60)
        lost.append(1)
        await asyncio.sleep(0.3)
        response = await servicer.rendered(request, context)
        lost.pop()
        return response

    return Bent(call=call)


def _kept_by_name() -> Callable[[Request, Any], Awaitable[None]]:
    """Keep each secret as it first was."""
    kept: dict[tuple[str, str], bytes] = {}

    async def before(request: Request, _context: Any) -> None:
        for one in request.bundle.secrets.secrets:
            one.value = kept.setdefault((one.name, one.key), one.value)

    return before


def _kept_by_path() -> Callable[[Request, Any], Awaitable[None]]:
    """Keep each content as it first was."""
    kept: dict[str, bytes] = {}

    async def before(request: Request, _context: Any) -> None:
        for file in request.bundle.os.files:
            file.content.ParseFromString(kept.setdefault(file.path, file.content.SerializeToString()))

    return before


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant(
        "a tag without blanks", ("RND-001.odd-tags",),
        answered(lambda _, response: setattr(response, "request_tag", response.request_tag.strip())),
    )  # fmt: skip
    yield Mutant(
        "the tag in the user data", ("RND-002.tag-has-no-meaning",), append(lambda request: request.request_tag)
    )
    yield Mutant("a random number in the user data", ("RND-003.repeated",), append(lambda _: str(random.random())))
    yield Mutant("the time in the user data", ("RND-003.repeated",), append(lambda _: str(time.time_ns())))
    yield Mutant("answers that are mixed up", ("RND-003.at-once",), _mixed_up())
    yield Mutant(
        "a hash of something else", ("RND-006.sha256",),
        answered(lambda _, response: setattr(response, "sha256", bytes(32)), rehash=False),
    )  # fmt: skip
    yield Mutant(
        "a hash of the beginning", ("RND-006.sha256",),
        answered(lambda _, response: response.user_data and setattr(
            response, "sha256", hashlib.sha256(response.user_data[:65536]).digest()), rehash=False),
    )  # fmt: skip
    yield Mutant("secrets that are kept by name", ("RND-003.in-turn",), Bent(before=_kept_by_name()))
    yield Mutant("contents that are kept by path", ("RND-003.in-turn",), Bent(before=_kept_by_path()), ALL)
    for name in ("format", "media_type", "implementation_version"):
        yield Mutant(
            f"a wrong {name}", ("RND-007.labels",),
            answered(lambda _, response, name=name: setattr(response, name, "other")),
        )  # fmt: skip
    yield Mutant(
        "compressed user data", ("RND-008.not-compressed",),
        answered(lambda _, response: setattr(response, "user_data", gzip.compress(response.user_data, mtime=0))),
        ("EXE",), why="nobody can read it",
    )  # fmt: skip
    yield Mutant("no check without a render", ("RND-009.validate-only",), Bent(before=_always_full))
    yield Mutant(
        "a mere check that remarks nothing", ("RND-009.validate-only",),
        Bent(after=lambda request, response: _remark(response) if not request.validate_only else None),
    )  # fmt: skip
    yield Mutant("a mere check that refuses nothing", ("RND-009.validate-only-refusals",), Bent(call=_nod))
    yield Mutant(
        "attachments in folders", ("RND-010.attachments",),
        Bent(provisioner=WindowsProvisioner, after=lambda _, response: _rename(response, "a/b.ps1")),
    )  # fmt: skip
    yield Mutant(
        "attachments without a hash", ("RND-010.attachments",),
        Bent(provisioner=WindowsProvisioner, after=lambda _, response: [
            attachment.ClearField("sha256") for attachment in response.attachments] and None),
    )  # fmt: skip
    yield Mutant(
        "attachments with a URL", ("RND-010.attachments",),
        Bent(provisioner=WindowsProvisioner, after=lambda _, response: [
            setattr(attachment, "url", "https://a.example/x") for attachment in response.attachments] and None),
    )  # fmt: skip
    yield Mutant(
        "attachments that are not declared", ("RND-010.attachments",),
        answered(lambda request, response: None if request.validate_only else response.attachments.add(
            name="x", sha256=hashlib.sha256(b"").digest(), operator_only=True)),
    )  # fmt: skip
    yield Mutant(
        "attachments for those who can place none", ("RND-011.attachments-not-accepted",),
        Bent(provisioner=WindowsProvisioner, before=_accepting),
    )  # fmt: skip
    yield Mutant(
        "attachments that a mere check does not need", ("RND-011.attachments-not-accepted",),
        Bent(provisioner=WindowsProvisioner, before=_accepting_unseen),
    )  # fmt: skip
    yield Mutant(
        "refusal without a need for attachments", ("RND-011.attachments-not-accepted",),
        Bent(call=_wants_attachments),
    )  # fmt: skip
    yield Mutant("the latest expiry", ("RND-012.expire-time",), answered(_latest), ("RND",))
    yield Mutant(
        "an expiry of its own", ("RND-012.no-expire-time",),
        answered(lambda _, response: setattr(response.expire_time, "seconds", 4_000_000_000)),
    )  # fmt: skip
    yield Mutant("a look at the clock", ("RND-013.expired",), Bent(call=_by_the_clock))
    yield Mutant(
        "remarks without a code", ("RND-014.diagnostics",),
        answered(lambda _, response: response.diagnostics.add(message="hello")),
    )  # fmt: skip
    yield Mutant("a missing secret is nothing", ("RND-017.missing-secret",), Bent(before=_with_secrets))
    yield Mutant("every family is served", ("RND-020.other-family",), Bent(before=_any_family))
    yield Mutant("a target is guessed", ("RND-021.no-family",), Bent(before=_guess))
    yield Mutant("places that are lost when a caller gives up", ("RND-022.cancelled",), _stuck(), ALL)
    yield Mutant("provenance is refused", ("RND-023.no-feature-no-refusal",), Bent(call=_pedant), ("LIM",))


async def _always_full(request: Request, _context: Any) -> None:
    request.validate_only = False


def _remark(response: Response) -> None:
    response.diagnostics.add(severity=1, code="HELLO", message="hello")


async def _nod(servicer: Servicer, request: Request, context: Any) -> Response:
    if request.validate_only:
        return Response(request_tag=request.request_tag, format=request.format)
    return await servicer.rendered(request, context)


def _rename(response: Response, name: str) -> None:
    for attachment in response.attachments:
        attachment.name = name


async def _accepting(request: Request, _context: Any) -> None:
    request.accept_attachments = True


async def _accepting_unseen(request: Request, _context: Any) -> None:
    request.accept_attachments |= request.validate_only


async def _wants_attachments(servicer: Servicer, request: Request, context: Any) -> Response:
    if not request.accept_attachments:
        status = Status(code=9, message="wants to give attachments")
        status.details.add().Pack(ErrorInfo(reason="ATTACHMENTS_NOT_ACCEPTED", domain="slipway.dev"))
        await abort(context, status)
    return await servicer.rendered(request, context)


def _latest(request: Request, response: Response) -> None:
    times = [secret.expire_time for secret in request.bundle.secrets.secrets if secret.HasField("expire_time")]
    if times:
        response.expire_time.CopyFrom(max(times, key=lambda one: one.seconds))


async def _by_the_clock(servicer: Servicer, request: Request, context: Any) -> Response:
    if any(0 < secret.expire_time.seconds < time.time() for secret in request.bundle.secrets.secrets):
        status = Status(code=9, message="a secret has expired")
        status.details.add().Pack(ErrorInfo(reason="SECRET_EXPIRED", domain="slipway.dev"))
        await abort(context, status)
    return await servicer.rendered(request, context)


async def _with_secrets(request: Request, _context: Any) -> None:
    there = {(secret.name, secret.key) for secret in request.bundle.secrets.secrets}
    for file in request.bundle.os.files:
        for segment in file.content.segments:
            reference = segment.secret_ref
            if segment.HasField("secret_ref") and (reference.name, reference.key) not in there:
                request.bundle.secrets.secrets.add(name=reference.name, key=reference.key)


async def _any_family(request: Request, _context: Any) -> None:
    if request.target.os_family == clusterpb.OS_FAMILY_WINDOWS:
        request.target.os_family = clusterpb.OS_FAMILY_LINUX


async def _guess(request: Request, _context: Any) -> None:
    if not request.target.os_family:
        request.target.os_family = clusterpb.OS_FAMILY_LINUX


async def _pedant(servicer: Servicer, request: Request, context: Any) -> Response:
    if request.bundle.HasField("provenance"):
        status = Status(code=3, message="provenance is not expected")
        status.details.add().Pack(ErrorInfo(reason="BUNDLE_INVALID", domain="slipway.dev"))
        await abort(context, status)
    return await servicer.rendered(request, context)
