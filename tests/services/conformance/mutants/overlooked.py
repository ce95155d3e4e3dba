"""Mutants that break what is easily overlooked: one field of many, one item of hundreds, one kind of machine."""

import base64
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from google.rpc.error_details_pb2 import BadRequest
from google.rpc.status_pb2 import Status

from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tests.services.conformance.bent import Bent, Request, Response, Servicer
from tests.services.conformance.mutants.bending import change_info
from tests.services.conformance.mutants.mutant import Mutant

Before = Callable[[Request, Any], Awaitable[None]]

_ITEMS = ("RND-019.extended-items",)
_LOG = ("SEC-004.secrets-in-output",)


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant("the argument that is wrong in an error", ("SEC-002.each-field-in-errors",), Bent(error=_wrong_word))
    yield Mutant("the item before the one to blame", ("ERR-004.right-item",), Bent(error=_one_less), ("FEA",))
    yield Mutant(
        "another domain for a reason of the table", ("ERR-002.reasons",),
        Bent(error=lambda _, status: change_info(status, lambda info: setattr(info, "domain", "acme.example.com"))),
        ("FEA", "RND", "LIM", "VER"),
    )  # fmt: skip
    yield Mutant("secrets as text", ("RND-016.binary-secrets",), Bent(before=_each_secret(_as_text)))
    yield Mutant("no more than 4 kB of a secret", ("RND-016.binary-secrets",), Bent(before=_each_secret(_cut)))
    yield Mutant("a missing secret as it was before", ("RND-017.secret-of-another",), Bent(call=_Remembering()))
    yield Mutant("the 300th file is lost", ("LIM-005.many-files",), Bent(before=_files(lambda all_: all_[:299])))
    yield Mutant(
        "no byte order mark", ("RND-015.byte-for-byte",), Bent(before=_each_segment(lambda data: data.lstrip(_MARK)))
    )
    yield Mutant("512 segments", ("RND-015.joined-segments",), Bent(before=_few_segments))
    yield Mutant("paths of 255 bytes", ("RND-018.wherever-it-is",), Bent(before=_files(_short_paths)))
    yield Mutant(
        "hidden files are lost", ("RND-018.wherever-it-is",),
        Bent(before=_files(lambda all_: [file for file in all_ if "/." not in file.path])),
    )  # fmt: skip
    yield Mutant("no files on control planes", ("RND-018.wherever-it-is",), Bent(before=_no_files_on_control_planes))
    yield Mutant("secrets up to their NUL", ("RND-016.binary-secrets",), Bent(before=_each_secret(_up_to_nul)))
    yield Mutant("arguments without blanks around", ("EXE-001.entry-point",), Bent(before=_words(str.strip)))
    yield Mutant("arguments of 1 kB", ("EXE-001.entry-point",), Bent(before=_words(lambda word: word[:1000])))
    yield Mutant("files in /etc are for everybody", ("RND-018.wherever-it-is",), Bent(before=_files(_public)))
    yield Mutant("no files on arm64", ("RND-018.wherever-it-is",), Bent(before=_of_target("architecture", "arm64")))
    yield Mutant("no files on AWS", ("RND-018.wherever-it-is",), Bent(before=_of_target("infrastructure", "aws")))
    yield Mutant("a line break is a blank", ("EXE-001.lines-in-arguments",), Bent(before=_one_line))
    yield Mutant("two groups", _ITEMS, Bent(before=_users(lambda user: user.groups.__delitem__(slice(2, None)))))
    yield Mutant("numbers of 16 bits", _ITEMS, Bent(before=_users(_short_number)))
    yield Mutant("keys without options", _ITEMS, Bent(before=_users(_bare_keys)))
    yield Mutant("a comment without quotes", _ITEMS, Bent(before=_users(_unquoted)))
    for name, write in _WRITERS.items():
        yield Mutant(f"requests in the log as {name}", _LOG, Bent(call=_Logging(write)))


_MARK = "\ufeff".encode()
_MOST_BITS = 1 << 16


def _wrong_word(request: Request, status: Status) -> None:
    status.message += "".join([word for word in request.bundle.plan.entrypoint.argv if "\0" in word][:1])


def _one_less(_request: Request, status: Status) -> None:
    for detail in status.details:
        fields = BadRequest()
        if detail.Unpack(fields):
            for one in fields.field_violations:
                one.field = one.field.replace("[11]", "[10]")
            detail.Pack(fields)


def _as_text(value: bytes) -> bytes:
    return value.decode(errors="replace").encode()


def _cut(value: bytes) -> bytes:
    return value[:4096]


def _each_secret(change: Callable[[bytes], bytes]) -> Before:
    async def before(request: Request, _context: Any) -> None:
        for secret in request.bundle.secrets.secrets:
            secret.value = change(secret.value)

    return before


def _each_segment(change: Callable[[bytes], bytes]) -> Before:
    async def before(request: Request, _context: Any) -> None:
        for file in request.bundle.os.files:
            for segment in file.content.segments:
                if segment.HasField("data"):
                    segment.data = change(segment.data)

    return before


async def _few_segments(request: Request, _context: Any) -> None:
    for file in request.bundle.os.files:
        del file.content.segments[512:]


def _files(change: Callable[[list[ospb.File]], list[ospb.File]]) -> Before:
    async def before(request: Request, _context: Any) -> None:
        kept = change(list(request.bundle.os.files))
        del request.bundle.os.files[:]
        request.bundle.os.files.extend(kept)

    return before


def _public(files: list[ospb.File]) -> list[ospb.File]:
    for file in files:
        if file.path.startswith("/etc/"):
            file.mode |= 0o022
    return files


def _of_target(name: str, value: str) -> Before:
    async def before(request: Request, _context: Any) -> None:
        if getattr(request.target, name) == value:
            del request.bundle.os.files[1:]

    return before


def _up_to_nul(value: bytes) -> bytes:
    return value.partition(b"\0")[0] or value


def _words(change: Callable[[str], str]) -> Before:
    async def before(request: Request, _context: Any) -> None:
        argv = request.bundle.plan.entrypoint.argv
        argv[:] = [change(word) for word in argv]

    return before


def _short_paths(files: list[ospb.File]) -> list[ospb.File]:
    for file in files:
        file.path = file.path[:255]
    return files


async def _no_files_on_control_planes(request: Request, _context: Any) -> None:
    if request.bundle.machine.role == clusterpb.ROLE_CONTROL_PLANE:
        request.bundle.os.ClearField("files")


async def _one_line(request: Request, _context: Any) -> None:
    argv = request.bundle.plan.entrypoint.argv
    argv[:] = [word.replace("\n", " ") for word in argv]


def _users(change: Callable[[ospb.User], object]) -> Before:
    async def before(request: Request, _context: Any) -> None:
        for user in request.bundle.os.users:
            change(user)

    return before


def _short_number(user: ospb.User) -> None:
    if user.HasField("uid"):
        user.uid %= _MOST_BITS


def _bare_keys(user: ospb.User) -> None:
    user.ssh_authorized_keys[:] = ["ssh-" + key.partition("ssh-")[2] for key in user.ssh_authorized_keys]


def _unquoted(user: ospb.User) -> None:
    if user.HasField("gecos"):
        user.gecos = user.gecos.partition("#")[0].strip()


class _Remembering:
    """Fills in what a bundle lacks of what an earlier one held."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], bytes] = {}

    async def __call__(self, servicer: Servicer, request: Request, context: Any) -> Response:
        asked = provisionerpb.RenderRequest()
        asked.CopyFrom(request)
        secrets = asked.bundle.secrets.secrets
        there = {(one.name, one.key) for one in secrets}
        for (name, key), value in self._held.items():
            if (name, key) not in there:
                secrets.add(name=name, key=key, kind=1, value=value)
        self._held |= {(one.name, one.key): one.value for one in secrets}
        return await servicer.rendered(asked, context)


class _Logging:
    """Writes the secrets of every request to its log, in a way of its own."""

    def __init__(self, write: Callable[[bytes], bytes]) -> None:
        self._write = write

    async def __call__(self, servicer: Servicer, request: Request, context: Any) -> Response:
        for secret in request.bundle.secrets.secrets:
            servicer.output += b"got " + self._write(secret.value) + b"\n"
        return await servicer.rendered(request, context)


_WRITERS: dict[str, Callable[[bytes], bytes]] = {
    "decimal numbers": lambda value: str(list(value)).encode(),
    "JSON of bytes": lambda value: json.dumps({"type": "Buffer", "data": list(value)}).encode(),
    "hexadecimal of base64": lambda value: base64.b64encode(value).hex().encode(),
    "base64 of base64": lambda value: base64.b64encode(base64.b64encode(value)),
    "base64 for URLs": lambda value: base64.urlsafe_b64encode(b"\xff\xfe\xfd" + value),
    "escapes": lambda value: "".join(f"\\x{one:02x}" for one in value).encode(),
}
