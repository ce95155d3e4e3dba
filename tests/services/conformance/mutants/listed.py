"""Mutants that authors were seen to write, or that were named as what a suite must catch."""

import base64
import random
from collections.abc import Callable, Iterator
from typing import Any

from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from tests.services.conformance.bent import Bent, Request, Response, Servicer, abort
from tests.services.conformance.mutants.bending import answered
from tests.services.conformance.mutants.meaning import document, each
from tests.services.conformance.mutants.mutant import Mutant
from tests.services.conformance.mutants.unasked import OneIgnition, asked, system

_EXTENDED = ("RND-019.extended-items",)
_MOST = 256 * 1024


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant("a crash on the empty bundle", ("ERR-006.malformed",), Bent(call=_no_bundle))
    yield Mutant("the user's name that is wrong in an error", ("SEC-002.each-field-in-errors",), Bent(call=_user_name))
    yield Mutant("256 kB of a file", ("RND-018.many-items",), asked(_cut), ("LIM",))
    yield Mutant(
        "a line break in the command of a unit", ("EXE-001.lines-in-arguments",),
        answered(_broken_line, provisioner=OneIgnition),
    )  # fmt: skip
    yield Mutant("the first word of a shell", _EXTENDED, system(_users(_first_word)))
    yield Mutant("host names of 15 characters", _EXTENDED, system(_short_name))
    yield Mutant("a literal as its encoding says", ("RND-015.literals-with-an-encoding",), asked(_encoded))
    yield Mutant("files before their owners", _EXTENDED, document(each("write_files", _at_once)))
    yield Mutant("files that are kept", ("RND-018.core-items",), answered(_kept, provisioner=OneIgnition))
    yield Mutant("groups in the order of a set", ("RND-003.each-case-again",), asked(_any_order), ("RND", "LIM"))
    yield Mutant("a unit that nothing is said of is off", _EXTENDED, system(_off, OneIgnition))
    yield Mutant("a password that can be used at once", _EXTENDED, system(_open))
    yield Mutant("a host name that nobody asked for", ("RND-018.core-items",), asked(_own_name), ("EXE",))
    yield Mutant(
        "a remark on a field of another document", ("RND-014.diagnostics",),
        answered(lambda _, response: response.diagnostics.add(severity=1, code="A", message="a", field_path="spec.x")),
    )  # fmt: skip
    yield Mutant("the host name in a remark", ("SEC-003.values-in-diagnostics",), answered(_told))


async def _no_bundle(servicer: Servicer, request: Request, context: Any) -> Response:
    if not request.HasField("bundle"):
        await abort(context, Status(code=2, message="Exception calling application"), rich=False)
    return await servicer.rendered(request, context)


async def _user_name(servicer: Servicer, request: Request, context: Any) -> Response:
    for user in request.bundle.os.users:
        if "\0" in user.name:
            status = Status(code=3, message=f"{user.name} is no name of a user")
            status.details.add().Pack(ErrorInfo(reason="BUNDLE_INVALID", domain="slipway.dev"))
            await abort(context, status)
    return await servicer.rendered(request, context)


def _cut(request: Request) -> None:
    for file in request.bundle.os.files:
        for segment in file.content.segments:
            if segment.HasField("data"):
                segment.data = segment.data[:_MOST]


def _broken_line(_request: Request, response: Response) -> None:
    response.user_data = response.user_data.replace(rb"one\\nExecStart", rb"one\nExecStart")


def _users(change: Callable[[ospb.User], object]) -> Callable[[ospb.OperatingSystem], None]:
    def all_of_them(os: ospb.OperatingSystem) -> None:
        for user in os.users:
            change(user)

    return all_of_them


def _first_word(user: ospb.User) -> None:
    if user.HasField("shell"):
        user.shell = user.shell.partition(" ")[0]


def _short_name(os: ospb.OperatingSystem) -> None:
    if os.HasField("hostname"):
        os.hostname.name.value = os.hostname.name.value[:15]


def _encoded(request: Request) -> None:
    for file in request.bundle.os.files:
        for segment in file.content.segments:
            if segment.HasField("data") and segment.encoding == contentpb.SPLICE_ENCODING_BASE64:
                segment.data = base64.b64encode(segment.data)


def _at_once(entry: dict[str, Any]) -> None:
    entry.pop("defer", None)


def _kept(_request: Request, response: Response) -> None:
    response.user_data = response.user_data.replace(b'"overwrite":true', b'"overwrite":false')


def _any_order(request: Request) -> None:
    for user in request.bundle.os.users:
        groups = list(user.groups)
        random.shuffle(groups)
        user.groups[:] = groups


def _off(os: ospb.OperatingSystem) -> None:
    for unit in os.systemd_units:
        unit.enabled = unit.enabled


def _open(os: ospb.OperatingSystem) -> None:
    for user in os.users:
        user.lock_password = user.lock_password


def _own_name(request: Request) -> None:
    if not request.bundle.os.HasField("hostname"):
        request.bundle.os.hostname.name.value = "a-machine"


def _told(request: Request, response: Response) -> None:
    name = request.bundle.os.hostname.name.value
    if name:
        response.diagnostics.add(severity=1, code="NAME", message=f"it is called {name}")
