"""Mutants of habits: what other programs do to texts, files and arguments, and an author takes over unseen."""

import base64
import unicodedata
from collections.abc import Awaitable, Callable, Iterator
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from tests.services.conformance.bent import Bent, Request, Response, Servicer
from tests.services.conformance.mutants.mutant import ALL, Mutant

Before = Callable[[Request, Any], Awaitable[None]]


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant(
        "line ends of Unix",
        ("RND-015.byte-for-byte",),
        Bent(before=_literals(lambda data: data.replace(b"\r\n", b"\n"))),
    )
    yield Mutant(
        "variables in contents",
        ("RND-015.byte-for-byte",),
        Bent(before=_literals(lambda data: data.replace(b"$HOME", b"/root"))),
    )
    yield Mutant(
        "secrets without their last line break", ("RND-016.spliced-secrets",), Bent(before=_secrets_without_line_break)
    )
    yield Mutant("secrets in base64 for URLs", ("RND-016.spliced-secrets",), Bent(before=_base64_for_urls))
    yield Mutant("one file of each name", ("RND-018.wherever-it-is",), Bent(before=_one_of_each_name))
    yield Mutant("no empty files", ("RND-015.byte-for-byte",), Bent(before=_no_empty_files))
    yield Mutant("every file is writable for its owner", ("RND-018.core-items",), Bent(before=_files(_writable)))
    yield Mutant("paths as in URLs", ("RND-018.core-items",), Bent(before=_files(_quoted)))
    yield Mutant("paths in composed characters", ("RND-018.core-items",), Bent(before=_files(_composed)))
    yield Mutant(
        "no empty arguments",
        ("EXE-001.entry-point",),
        Bent(before=_arguments(lambda argv: [word for word in argv if word])),
    )
    yield Mutant(
        "each argument once", ("EXE-001.entry-point",), Bent(before=_arguments(lambda argv: list(dict.fromkeys(argv))))
    )
    yield Mutant("answers that are kept by the id of the bundle", ("RND-003.in-turn",), Bent(call=_Cache()), ALL)
    yield Mutant("a mere check without limits", ("LIM-003.user-data-limit",), Bent(before=_unlimited_check))


def _literals(change: Callable[[bytes], bytes]) -> Before:
    async def before(request: Request, _context: Any) -> None:
        for file in request.bundle.os.files:
            for segment in file.content.segments:
                if segment.HasField("data"):
                    segment.data = change(segment.data)

    return before


async def _secrets_without_line_break(request: Request, _context: Any) -> None:
    for secret in request.bundle.secrets.secrets:
        secret.value = secret.value.removesuffix(b"\n")


async def _base64_for_urls(request: Request, _context: Any) -> None:
    values = {(secret.name, secret.key): secret.value for secret in request.bundle.secrets.secrets}
    for file in request.bundle.os.files:
        for segment in file.content.segments:
            value = values.get((segment.secret_ref.name, segment.secret_ref.key))
            if value is not None and segment.encoding == contentpb.SPLICE_ENCODING_BASE64:
                segment.CopyFrom(contentpb.Segment(data=base64.urlsafe_b64encode(value)))


async def _one_of_each_name(request: Request, _context: Any) -> None:
    by_name = {PurePosixPath(file.path).name: file for file in request.bundle.os.files}
    _keep(request, list(by_name.values()))


async def _no_empty_files(request: Request, _context: Any) -> None:
    kept = [file for file in request.bundle.os.files if any(_filled(part) for part in file.content.segments)]
    _keep(request, kept)


def _keep(request: Request, files: list[ospb.File]) -> None:
    request.bundle.os.ClearField("files")
    request.bundle.os.files.extend(files)


def _filled(segment: contentpb.Segment) -> bool:
    return bool(segment.data) or not segment.HasField("data")


def _files(change: Callable[[ospb.File], object]) -> Before:
    async def before(request: Request, _context: Any) -> None:
        for file in request.bundle.os.files:
            change(file)

    return before


def _writable(file: ospb.File) -> None:
    file.mode |= 0o200


def _quoted(file: ospb.File) -> None:
    file.path = quote(file.path)


def _composed(file: ospb.File) -> None:
    file.path = unicodedata.normalize("NFC", file.path)


def _arguments(change: Callable[[list[str]], list[str]]) -> Before:
    async def before(request: Request, _context: Any) -> None:
        argv = request.bundle.plan.entrypoint.argv
        argv[:] = change(list(argv))

    return before


async def _unlimited_check(request: Request, _context: Any) -> None:
    if request.validate_only:
        request.max_user_data_bytes = 0


class _Cache:
    """Renders each bundle once, as it believes."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str, bool], Response] = {}

    async def __call__(self, servicer: Servicer, request: Request, context: Any) -> Response:
        key = (request.bundle.id, request.format, request.validate_only)
        if key not in self._answers:
            self._answers[key] = await servicer.rendered(request, context)
        answer = Response()
        answer.CopyFrom(self._answers[key])
        answer.request_tag = request.request_tag
        return answer
