"""Mutants of which the user data means something else than the bundle."""

from collections.abc import Callable, Iterator
from typing import Any

import yaml

from slipway.provisioners.talos.provisioner import TalosProvisioner
from tests.services.conformance.bent import Bent, Request, Response
from tests.services.conformance.mutants.bending import answered
from tests.services.conformance.mutants.mutant import Mutant
from tests.services.conformance.mutants.unasked import OneIgnition


def document(change: Callable[[dict[str, Any]], object], **more: Any) -> Bent:
    """Change the cloud-config itself."""

    def bend(_request: Request, response: Response) -> None:
        if response.user_data.startswith(b"#cloud-config"):
            document = yaml.safe_load(response.user_data)
            change(document)
            response.user_data = b"#cloud-config\n" + yaml.safe_dump(document, sort_keys=False, width=1 << 20).encode()

    return answered(bend, **more)


def each(key: str, change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, Any]], object]:
    def bend(document: dict[str, Any]) -> None:
        for entry in document.get(key, []):
            if isinstance(entry, dict):
                change(entry)

    return bend


def _stripped(entry: dict[str, Any]) -> None:
    if isinstance(entry.get("content"), str) and "encoding" not in entry:
        entry["content"] = entry["content"].rstrip("\n") + "\n"


def _lines(request: Request) -> None:
    for file in request.bundle.os.files:
        for segment in file.content.segments[:-1]:
            if segment.data and not segment.data.endswith(b"\n"):
                segment.data += b"\n"


async def _joined_by_lines(request: Request, _context: Any) -> None:
    _lines(request)


async def _always_raw(request: Request, _context: Any) -> None:
    for file in request.bundle.os.files:
        for segment in file.content.segments:
            segment.ClearField("encoding")


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant(
        "contents end with one line break",
        ("RND-015.byte-for-byte",),
        document(each("write_files", _stripped)),
        ("RND",),
    )
    yield Mutant("a line break between segments", ("RND-015.joined-segments",), Bent(before=_joined_by_lines))
    yield Mutant("all secrets are spliced raw", ("RND-016.spliced-secrets",), Bent(before=_always_raw))
    yield Mutant(
        "files without their mode", ("RND-018.core-items",),
        document(each("write_files", lambda entry: entry.pop("permissions", None) and None)),
        ("EXE",), why="a script that cannot be executed starts nothing",
    )  # fmt: skip
    yield Mutant(
        "the last file is left out", ("RND-018.core-items",),
        document(lambda document: document["write_files"].pop(0)),
    )  # fmt: skip
    yield Mutant(
        "another owner", ("RND-018.core-items",),
        document(each("write_files", lambda entry: entry.update(owner="nobody:nogroup"))),
    )  # fmt: skip
    yield Mutant(
        "sudo is left out", ("RND-019.extended-items",),
        document(each("users", lambda entry: entry.pop("sudo", None) and None)),
    )  # fmt: skip
    yield Mutant(
        "groups of users are left out", ("RND-019.extended-items",),
        document(each("users", lambda entry: entry.pop("groups", None) and None)),
    )  # fmt: skip
    yield Mutant(
        "a worker without taints", ("RND-018.core-items",),
        Bent(provisioner=TalosProvisioner, before=_without_taints),
    )  # fmt: skip
    yield Mutant(
        "a shell takes the arguments apart", ("EXE-001.entry-point",),
        document(each("write_files", _unquoted)), ("RND",),
    )  # fmt: skip
    yield Mutant(
        "variables in the arguments", ("EXE-001.entry-point",), document(each("write_files", _expanding)), ("RND",)
    )
    yield Mutant("a start at first boot only", ("EXE-003.started-again",), document(each("write_files", _once)))
    yield Mutant("a start as early as can be", ("EXE-002.after-the-files",), answered(_as_boot_command))
    yield Mutant("boot commands at first boot only", ("RND-019.extended-items",), document(_no_later_boot))
    yield Mutant(
        "a path in front of every program", ("EXE-010.program-by-name",), document(each("write_files", _placed)),
    )  # fmt: skip
    yield Mutant(
        "a name of its own for the service", ("EXE-012.name-of-the-service",),
        Bent(provisioner=OneIgnition, before=_another_name),
    )  # fmt: skip
    yield Mutant("arguments up to their NUL", ("EXE-001.impossible-argument",), Bent(before=_cut_short))


def _placed(entry: dict[str, Any]) -> None:
    if "per-boot" in entry["path"]:
        entry["content"] = entry["content"].replace("exec sh ", "exec /usr/local/bin/sh ")


async def _another_name(request: Request, _context: Any) -> None:
    request.bundle.plan.entrypoint.unit_name = "first-boot.service"


async def _without_taints(request: Request, _context: Any) -> None:
    request.bundle.intent.kubernetes.node.ClearField("taints")


def _once(entry: dict[str, Any]) -> None:
    entry["path"] = entry["path"].replace("/per-boot/", "/per-instance/")


def _no_later_boot(document: dict[str, Any]) -> None:
    if "bootcmd" in document:
        document["runcmd"] = [*document.get("runcmd", []), *document.pop("bootcmd")]


def _as_boot_command(request: Request, response: Response) -> None:
    if not response.user_data or not request.bundle.plan.entrypoint.argv:
        return
    document = yaml.safe_load(response.user_data)
    document["write_files"] = [one for one in document["write_files"] if "per-boot" not in one["path"]]
    document["bootcmd"] = [*document.get("bootcmd", []), list(request.bundle.plan.entrypoint.argv)]
    response.user_data = b"#cloud-config\n" + yaml.safe_dump(document, sort_keys=False, width=1 << 20).encode()


async def _cut_short(request: Request, _context: Any) -> None:
    entry = request.bundle.plan.entrypoint
    entry.argv[:] = [word.partition("\0")[0] for word in entry.argv]


def _unquoted(entry: dict[str, Any]) -> None:
    if "per-boot" in entry["path"]:
        entry["content"] = entry["content"].replace("'", "")


def _expanding(entry: dict[str, Any]) -> None:
    if "per-boot" in entry["path"]:
        entry["content"] = entry["content"].replace("'", '"')
