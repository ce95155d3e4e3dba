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


async def _only_with_files(request: Request, _context: Any) -> None:
    if not request.bundle.os.files:
        request.bundle.os.ClearField("time_zone")


async def _too_much(request: Request, _context: Any) -> None:
    if len(request.bundle.os.ListFields()) > _MUCH:
        request.bundle.os.ClearField("time_zone")
