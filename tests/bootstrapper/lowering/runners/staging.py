"""Puts staged items onto a machine."""

from pathlib import Path

from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import SecretIndex, literal
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import lowered


def file(path: str, content: bytes | contentpb.Content = b"x\n", **more: object) -> ospb.File:
    """Give a file as a bundle holds it."""
    whole = literal(content) if isinstance(content, bytes) else content
    return ospb.File(**{"path": path, "content": whole, "owner": "root", "group": "root", "mode": 0o644, **more})


def install(machine: LinuxMachine, *items: planpb.Step | Wave, secrets: SecretIndex | None = None) -> int:
    """Lower, write and run; give the exit code."""
    result = lowered(items)
    machine.write(result.files, secrets)
    return machine.run(result.entrypoint.argv)


def access(path: Path) -> tuple[int, int, int]:
    """Give mode, owner and group."""
    status = path.lstat()
    return status.st_mode & 0o7777, status.st_uid, status.st_gid
