"""Mutants that are right for the values, the lists and the company that their authors thought of."""

from collections.abc import Iterator
from typing import Any

from slipway.provisioners.windows.provisioner import WindowsProvisioner
from tests.services.conformance.bent import Bent, Request
from tests.services.conformance.mutants.mutant import Mutant

_MUCH = 6


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant("two blanks are one", ("RND-019.other-values",), Bent(before=_one_blank))
    yield Mutant("long host names are cut", ("RND-019.other-values",), Bent(before=_cut))
    yield Mutant(
        "no clock where nothing is said of it", ("RND-019.other-values",),
        Bent(provisioner=WindowsProvisioner, before=_no_clock),
    )  # fmt: skip
    yield Mutant("a third package is lost", ("RND-019.other-lists",), Bent(before=_two_packages))
    yield Mutant("what the user before has", ("RND-019.other-lists",), Bent(before=_like_the_first))
    yield Mutant("a time zone only beside files", ("RND-019.alone",), Bent(before=_only_with_files))
    yield Mutant("no comment beside a shell", ("RND-019.two-at-once",), Bent(before=_no_comment))
    yield Mutant("files of mounts elsewhere", ("RND-019.files-in-places",), Bent(before=_beside_the_mount))
    yield Mutant("groups in small letters once", ("RND-019.names-in-other-letters",), Bent(before=_small_letters))
    yield Mutant("scripts as lines", ("RND-015.other-contents",), Bent(before=_line_breaks))
    yield Mutant("signs of no text replaced", ("RND-016.other-secrets",), Bent(before=_replaced))
    yield Mutant("no time zone among many items", ("RND-019.together",), Bent(before=_too_much))


async def _one_blank(request: Request, _context: Any) -> None:
    for user in request.bundle.os.users:
        user.gecos = " ".join(user.gecos.split())


async def _cut(request: Request, _context: Any) -> None:
    name = request.bundle.os.hostname.name
    if len(name.value) > 31:
        name.value = name.value[:31]


async def _no_clock(request: Request, _context: Any) -> None:
    if request.bundle.os.HasField("ntp") and not request.bundle.os.ntp.enabled:
        request.bundle.os.ntp.enabled = False


async def _two_packages(request: Request, _context: Any) -> None:
    del request.bundle.os.packages.install[2:]


async def _like_the_first(request: Request, _context: Any) -> None:
    users = request.bundle.os.users
    for user in users[1:]:
        user.gecos = user.gecos or users[0].gecos


async def _no_comment(request: Request, _context: Any) -> None:
    for user in request.bundle.os.users:
        if user.HasField("shell"):
            user.ClearField("gecos")


async def _beside_the_mount(request: Request, _context: Any) -> None:
    places = [mount.path.rstrip("/") for mount in request.bundle.os.mounts if mount.path.endswith("/")]
    for file in request.bundle.os.files:
        if any(file.path.startswith(f"{place}/") for place in places):
            file.path = f"/elsewhere{file.path}"


async def _small_letters(request: Request, _context: Any) -> None:
    names = {group.name.lower() for group in request.bundle.os.groups}
    if len(names) < len(request.bundle.os.groups):
        del request.bundle.os.groups[1:]


async def _line_breaks(request: Request, _context: Any) -> None:
    for command in request.bundle.commands.boot:
        for segment in command.script.segments:
            segment.data = segment.data.replace(b"\r\n", b"\n")


async def _replaced(request: Request, _context: Any) -> None:
    if request.bundle.commands.boot:
        for secret in request.bundle.secrets.secrets:
            secret.value = secret.value.decode(errors="replace").encode()


async def _only_with_files(request: Request, _context: Any) -> None:
    if not request.bundle.os.files:
        request.bundle.os.ClearField("time_zone")


async def _too_much(request: Request, _context: Any) -> None:
    if len(request.bundle.os.ListFields()) > _MUCH:
        request.bundle.os.ClearField("time_zone")
