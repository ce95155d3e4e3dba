"""Mutants that are nearly right: wrong once in many times, for one item in ten, at the last moment, or out of order."""

import asyncio
import base64
import itertools
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import grpc
import grpc.aio
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status

from provisioners.ignition.render import IgnitionProvisioner
from provisioners.talos.provisioner import TalosProvisioner
from provisioners.windows.provisioner import WindowsProvisioner
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tests.tools.conformance.bent import Bent, Life, Request, Response, Servicer, abort
from tests.tools.conformance.mutants.bending import answered
from tests.tools.conformance.mutants.meaning import document, each
from tests.tools.conformance.mutants.mutant import Mutant


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
        "one label in ten is left out", ("RND-018.many-items",),
        _talos(_fewer_labels),
    )  # fmt: skip
    yield Mutant(
        "no names of the API server", ("RND-019.extended-items",),
        _plane(lambda plane: plane.ClearField("api_server_sans")),
    )  # fmt: skip
    yield Mutant(
        "no audit policy", ("RND-019.extended-items",), _plane(lambda plane: plane.ClearField("audit")),
    )  # fmt: skip
    yield Mutant(
        "the scheduler's arguments for the controller manager", ("RND-019.extended-items",),
        _plane(lambda plane: plane.controller_manager.arguments.MergeFrom(plane.scheduler.arguments)
               or plane.scheduler.ClearField("arguments")),
    )  # fmt: skip
    yield Mutant(
        "a control plane with keys of another cluster", ("RND-019.extended-items",),
        _talos(_other_keys),
    )  # fmt: skip
    yield Mutant(
        "a control plane that is a worker", ("RND-019.extended-items",),
        _talos(_as_worker),
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
    yield Mutant("bytes that become text", ("RND-016.no-text",), Bent(before=_replaced))
    yield Mutant("base64 in lines", ("RND-016.spliced-secrets",), Bent(before=_base64_in_lines))
    yield Mutant("another answer once in twenty times", ("LIM-008.many",), _rarely())
    yield Mutant("contents that are mixed up", ("RND-003.at-once",), _mixed_contents())
    yield Mutant(
        "refusals that name a list", ("FEA-009.extended-features",),
        Bent(provisioner=WindowsProvisioner, error=_list_only),
    )  # fmt: skip
    yield Mutant("a secret in the last words", ("SEC-004.secrets-in-output",), _last_words())
    yield Mutant("bytes that are no text in an error", ("SEC-001.secrets-in-errors",), Bent(call=_repr), ("RND",))


def _cut(entry: dict[str, Any]) -> None:
    if isinstance(entry.get("content"), str) and len(entry["content"]) > 65536:
        entry["content"] = entry["content"][:65536]


def _grouped(entry: dict[str, Any]) -> None:
    owner = entry.get("owner", "root:root").partition(":")[0]
    entry["owner"] = f"{owner}:{owner}"


async def _masked(request: Request, _context: Any) -> None:
    for file in request.bundle.os.files:
        file.mode &= 0o777


async def _fewer_labels(request: Request, _context: Any) -> None:
    node = request.bundle.intent.kubernetes.node
    kept = [label for number, label in enumerate(node.labels, start=1) if number % 10]
    if len(kept) < len(node.labels):
        node.ClearField("labels")
        node.labels.extend(kept)


class NewestTalos(TalosProvisioner):
    """One format of five is enough to see what is wrong."""

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        return super().formats()[:1]


def _talos(before: Callable[[Request, Any], Awaitable[None]]) -> Bent:
    return Bent(provisioner=NewestTalos, before=before)


def _plane(change: Callable[[kubernetespb.ControlPlane], object]) -> Bent:
    """Change what is said of the control plane."""

    async def before(request: Request, _context: Any) -> None:
        if request.bundle.intent.kubernetes.HasField("control_plane"):
            change(request.bundle.intent.kubernetes.control_plane)

    return _talos(before)


async def _other_keys(request: Request, _context: Any) -> None:
    """Give etcd the key of the front proxy."""
    credentials = request.bundle.intent.credentials
    if credentials.HasField("etcd_ca"):
        credentials.etcd_ca.private_key.CopyFrom(credentials.front_proxy_ca.private_key)


async def _as_worker(request: Request, _context: Any) -> None:
    if request.bundle.intent.role in (clusterpb.ROLE_CONTROL_PLANE, clusterpb.ROLE_INIT):
        request.bundle.intent.role = clusterpb.ROLE_WORKER


def _refused(path: str) -> Status:
    status = Status(code=9, message="can not be held")
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


async def _replaced(request: Request, _context: Any) -> None:
    """Put a mark in the place of whatever is no text."""
    for one in request.bundle.secrets.secrets:
        one.value = one.value.decode(errors="replace").encode()


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
