"""Mutants that lose something of an extension's document, or of a secret."""

from collections.abc import Iterator
from typing import Any

from slipway.provisioners.ignition.render import IgnitionProvisioner
from slipway.provisioners.talos.provisioner import TalosProvisioner
from tests.services.conformance.bent import Bent, Request
from tests.services.conformance.mutants.mutant import Mutant

_CHECK = ("RND-019.contents-of-extensions",)


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant("the first of several extensions", _CHECK, Bent(provisioner=IgnitionProvisioner, before=_first))
    yield Mutant("no false in an extension", _CHECK, Bent(provisioner=IgnitionProvisioner, before=_only_true))
    yield Mutant("a patch whose words are cut", _CHECK, Bent(provisioner=TalosProvisioner, before=_cut))
    yield Mutant(
        "passwords without blanks around them", ("RND-018.secrets-of-any-value",),
        Bent(provisioner=TalosProvisioner, before=_stripped),
    )  # fmt: skip


async def _first(request: Request, _context: Any) -> None:
    del request.bundle.extensions[1:]


async def _only_true(request: Request, _context: Any) -> None:
    for extension in request.bundle.extensions:
        for segment in extension.content.segments:
            segment.data = segment.data.replace(b'"enabled": false', b'"enabled": true')


async def _cut(request: Request, _context: Any) -> None:
    for extension in request.bundle.extensions:
        for segment in extension.content.segments:
            segment.data = segment.data.replace(b"flannel1", b"flannel")


async def _stripped(request: Request, _context: Any) -> None:
    for secret in request.bundle.secrets.secrets:
        secret.value = secret.value.strip(b" ")
