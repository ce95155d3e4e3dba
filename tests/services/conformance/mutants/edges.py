"""Mutants that are wrong at one edge of one field, in one list, or in whom they blame."""

import re
from collections.abc import Iterator
from typing import Any

from google.rpc.error_details_pb2 import BadRequest
from google.rpc.status_pb2 import Status

from slipway.v1alpha1 import os_pb2 as ospb
from tests.services.conformance.bent import Bent, Request
from tests.services.conformance.mutants.mutant import Mutant


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant("a sign in front is lost", ("RND-019.values-at-the-edges",), Bent(before=_no_tilde))
    yield Mutant("keys in their order", ("RND-019.lists-of-any-length",), Bent(before=_sorted_keys))
    yield Mutant("the usual shell", ("RND-019.all-but-one",), Bent(before=_usual_shell))
    yield Mutant("an enum is guessed", ("FEA-010.unknown-value-of-every-enum",), Bent(before=_guessed))
    yield Mutant("a script without its secret", ("RND-017.every-reference",), Bent(before=_without))
    yield Mutant(
        "a fault of the first user", ("ERR-006.every-field-malformed",), Bent(error=_first_user), ("ERR", "RND")
    )


async def _no_tilde(request: Request, _context: Any) -> None:
    for user in request.bundle.os.users:
        user.gecos = user.gecos.removeprefix("~")


async def _sorted_keys(request: Request, _context: Any) -> None:
    for user in request.bundle.os.users:
        user.ssh_authorized_keys.sort()


async def _usual_shell(request: Request, _context: Any) -> None:
    for user in request.bundle.os.users:
        if user.HasField("gecos") and not user.HasField("shell"):
            user.shell = "/bin/bash"


async def _guessed(request: Request, _context: Any) -> None:
    for disk in request.bundle.os.disks:
        if disk.table_type not in ospb.PartitionTableType.values():
            disk.ClearField("table_type")


async def _without(request: Request, _context: Any) -> None:
    held = {(secret.name, secret.key) for secret in request.bundle.secrets.secrets}
    for user in request.bundle.os.users:
        reference = user.password_hash.secret_ref
        if user.password_hash.HasField("secret_ref") and (reference.name, reference.key) not in held:
            user.ClearField("password_hash")


def _first_user(_request: Request, status: Status) -> None:
    for detail in status.details:
        if detail.Is(BadRequest.DESCRIPTOR):
            bad = BadRequest.FromString(detail.value)
            for violation in bad.field_violations:
                violation.field = re.sub(r"os\.users\[[0-9]+\]", "os.users[0]", violation.field)
            detail.Pack(bad)
