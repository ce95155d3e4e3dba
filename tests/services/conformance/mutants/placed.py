"""Mutants that take one place for another: a folder, a reference, an item of a list, a part of a text."""

from collections.abc import Callable, Iterator
from typing import Any

from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status

from tests.services.conformance.bent import Bent, Request
from tests.services.conformance.mutants.control_plane import NewestTalos
from tests.services.conformance.mutants.mutant import Mutant
from tests.services.conformance.mutants.unasked import OneIgnition


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant("a folder that only begins like a mount", ("RND-019.files-in-places",), Bent(before=_on_the_mount))
    yield Mutant("a name in parts", ("RND-019.other-values",), Bent(before=_without_parts))
    yield Mutant(
        "no credentials without an endpoint", ("RND-019.all-but-one",),
        Bent(provisioner=NewestTalos, before=_with_endpoints),
    )  # fmt: skip
    yield Mutant(
        "the first place of a list", ("FEA-009.behind-another",),
        Bent(provisioner=OneIgnition, error=_fields(_first)),
    )  # fmt: skip
    yield Mutant(
        "what holds a missing secret", ("RND-017.every-reference",), Bent(error=_fields(_above, "BUNDLE_INVALID"))
    )


async def _on_the_mount(request: Request, _context: Any) -> None:
    for mount in request.bundle.os.mounts:
        for file in request.bundle.os.files:
            begins = mount.path.startswith("/") and file.path.startswith(mount.path)
            if begins and file.path[len(mount.path)] != "/":
                file.path = f"{mount.path}/{file.path[len(mount.path) :]}"


async def _without_parts(request: Request, _context: Any) -> None:
    name = request.bundle.os.hostname.name
    if name.segments and all(segment.HasField("text") for segment in name.segments):
        request.bundle.os.ClearField("hostname")


async def _with_endpoints(request: Request, _context: Any) -> None:
    for registry in request.bundle.os.containerd.registries:
        if not registry.endpoints:
            registry.ClearField("credentials")


def _fields(change: Callable[[str], str], reason: str = "") -> Callable[[Request, Status], None]:
    """Change the paths of a refusal, of any reason or of one."""

    def changed(_request: Request, status: Status) -> None:
        info = ErrorInfo()
        if reason and not any(detail.Unpack(info) and info.reason == reason for detail in status.details):
            return
        for detail in status.details:
            bad = BadRequest()
            if detail.Unpack(bad):
                for violation in bad.field_violations:
                    violation.field = change(violation.field)
                detail.Pack(bad)

    return changed


def _first(path: str) -> str:
    before, bracket, rest = path.partition("[")
    return f"{before}[0]{rest.partition(']')[2]}" if bracket and before.startswith("os.") else path


def _above(path: str) -> str:
    return path.removesuffix(".secret_ref")
