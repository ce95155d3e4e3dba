"""Mutants that lose a part of some items, or give more than was asked for."""

import base64
from collections.abc import Iterator
from typing import Any

from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status

from slipway.provisioners.ignition.render import IgnitionProvisioner
from slipway.v1alpha1 import content_pb2 as contentpb
from tests.services.conformance.bent import Bent, Request, Response, Servicer, abort
from tests.services.conformance.mutants.meaning import document, each
from tests.services.conformance.mutants.mutant import Mutant


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant(
        "no mode for one file in ten", ("RND-018.many-items",),
        document(lambda document: [
            entry.pop("permissions", None) for entry in document.get("write_files", [])[9::10]] and None),
    )  # fmt: skip
    yield Mutant(
        "large contents are cut off", ("RND-018.many-items",),
        document(each("write_files", _cut)), ("LIM",),
    )  # fmt: skip
    yield Mutant(
        "root owns what nobody is to own", ("RND-018.core-items",),
        document(each("write_files", lambda entry: entry.update(
            owner=entry.get("owner", "root:root").replace("nobody", "root")))),
    )  # fmt: skip
    yield Mutant(
        "root owns all directories", ("RND-019.extended-items",),
        Bent(provisioner=IgnitionProvisioner, before=_root_owned),
    )  # fmt: skip
    yield Mutant("every owner is its own group", ("RND-019.extended-items",), document(each("write_files", _grouped)))
    yield Mutant(
        "modes without their first digit", ("RND-018.core-items",),
        Bent(provisioner=IgnitionProvisioner, before=_masked),
    )  # fmt: skip
    yield Mutant(
        "paths in lower case", ("RND-018.core-items",),
        document(each("write_files", lambda entry: entry.update(path=entry["path"].lower()))),
    )  # fmt: skip
    yield Mutant(
        "sudo for everybody", ("RND-019.extended-items",),
        document(each("users", lambda entry: entry.setdefault("sudo", "ALL=(ALL) NOPASSWD:ALL"))),
    )  # fmt: skip
    yield Mutant(
        "a user of its own", ("RND-019.extended-items",),
        document(lambda document: document.setdefault("users", ["default"]).append({"name": "support"})),
    )  # fmt: skip
    yield Mutant(
        "commands in another order", ("RND-019.extended-items",),
        document(lambda document: document.get("runcmd", []).reverse()),
    )  # fmt: skip
    yield Mutant("only short texts", ("RND-015.byte-for-byte",), Bent(call=_short_texts), ("RND", "LIM", "FEA"))
    yield Mutant("no secrets in files", ("RND-016.spliced-secrets",), Bent(call=_no_secrets), ("RND", "SEC"))
    yield Mutant("secrets by their keys alone", ("RND-016.spliced-secrets",), Bent(before=_by_key))
    yield Mutant("bytes that become text", ("RND-016.no-text",), Bent(before=_replaced))
    yield Mutant("base64 in lines", ("RND-016.spliced-secrets",), Bent(before=_base64_in_lines))


def _cut(entry: dict[str, Any]) -> None:
    if isinstance(entry.get("content"), str) and len(entry["content"]) > 65536:
        entry["content"] = entry["content"][:65536]


def _grouped(entry: dict[str, Any]) -> None:
    owner = entry.get("owner", "root:root").partition(":")[0]
    entry["owner"] = f"{owner}:{owner}"


async def _root_owned(request: Request, _context: Any) -> None:
    for directory in request.bundle.os.directories:
        directory.owner = "root"


async def _masked(request: Request, _context: Any) -> None:
    for file in request.bundle.os.files:
        file.mode &= 0o777


def _refused(path: str) -> Status:
    status = Status(code=9, message="cannot be held")
    status.details.add().Pack(
        ErrorInfo(reason="UNSUPPORTED_FEATURE", domain="slipway.dev", metadata={"features": "os.files"})
    )
    status.details.add().Pack(BadRequest(field_violations=[BadRequest.FieldViolation(field=path)]))
    return status


async def _short_texts(servicer: Servicer, request: Request, context: Any) -> Response:
    """Refuse every text of more than one line."""
    for index, file in enumerate(request.bundle.os.files):
        if file.path.endswith("/bytes") and b"\n" in b"".join(segment.data for segment in file.content.segments):
            await abort(context, _refused(f"os.files[{index}].content"))
    return await servicer.rendered(request, context)


async def _no_secrets(servicer: Servicer, request: Request, context: Any) -> Response:
    """Refuse every secret in a file."""
    for index, file in enumerate(request.bundle.os.files):
        if any(segment.HasField("secret_ref") for segment in file.content.segments):
            await abort(context, _refused(f"os.files[{index}].content"))
    return await servicer.rendered(request, context)


async def _base64_in_lines(request: Request, _context: Any) -> None:
    found = {(one.name, one.key): one.value for one in request.bundle.secrets.secrets}
    for file in request.bundle.os.files:
        for segment in file.content.segments:
            if segment.encoding == contentpb.SPLICE_ENCODING_BASE64:
                value = found.get((segment.secret_ref.name, segment.secret_ref.key), b"")
                segment.CopyFrom(contentpb.Segment(data=base64.encodebytes(value).removesuffix(b"\n")))


async def _by_key(request: Request, _context: Any) -> None:
    names = {one.key: one.name for one in request.bundle.secrets.secrets}
    for file in request.bundle.os.files:
        for segment in file.content.segments:
            if segment.HasField("secret_ref"):
                segment.secret_ref.name = names.get(segment.secret_ref.key, segment.secret_ref.name)


async def _replaced(request: Request, _context: Any) -> None:
    """Put a mark in the place of whatever is no text."""
    for one in request.bundle.secrets.secrets:
        one.value = one.value.decode(errors="replace").encode()
