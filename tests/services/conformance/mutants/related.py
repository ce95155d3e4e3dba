"""Mutants that are right for each item, and wrong where two of them have to do with each other."""

from collections.abc import Iterator
from typing import Any

from slipway.provisioners.ignition.render import IgnitionProvisioner
from tests.services.conformance.bent import Bent, Request
from tests.services.conformance.mutants.mutant import Mutant

_CHECK = ("RND-019.in-relation",)


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant("no user in the group of its own name", _CHECK, Bent(before=_without_own))
    yield Mutant("one file of each content", _CHECK, Bent(before=_one_of_each_content))
    yield Mutant("devices that begin another one", _CHECK, Bent(before=_by_the_beginning))
    yield Mutant(
        "kernel arguments by the alphabet", _CHECK, Bent(provisioner=IgnitionProvisioner, before=_by_the_alphabet)
    )


async def _without_own(request: Request, _context: Any) -> None:
    for user in request.bundle.os.users:
        user.groups[:] = [name for name in user.groups if name != user.name]


async def _one_of_each_content(request: Request, _context: Any) -> None:
    by_content = {file.content.SerializeToString(deterministic=True): file for file in request.bundle.os.files}
    kept = [file for file in request.bundle.os.files if file.append or file in by_content.values()]
    if any(file.owner != "root" for file in kept):
        del request.bundle.os.files[:]
        request.bundle.os.files.extend(kept)


async def _by_the_beginning(request: Request, _context: Any) -> None:
    sources = [mount.source for mount in request.bundle.os.mounts]
    for mount in request.bundle.os.mounts:
        mount.source = next((source for source in sources if mount.source.startswith(source)), mount.source)


async def _by_the_alphabet(request: Request, _context: Any) -> None:
    request.bundle.os.kernel_arguments.sort(key=lambda entry: entry.argument)
