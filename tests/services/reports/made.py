"""Events, log bundles and stores that the tests of reports are about."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

from slipway.reports.names import BundleKey
from slipway.reports.objects import Objects
from slipway.reports.store import ReportStore

KEY = BundleKey("default", "harbour", "worker-1", "0123456789abcdef")


def event(sequence: int, state: str, step: str = "", /, *, bundle: str = KEY.bundle_id, **more: Any) -> str:
    """Give an event as an executor writes it, without line end."""
    members = {
        "bundleId": bundle, "sequence": sequence, "time": f"2026-01-02T03:{sequence // 60:02}:{sequence % 60:02}Z",
        "hostname": "worker-1", "executor": "EXECUTOR_SHELL",
        **({"phase": "PHASE_BOOTSTRAP", "step": step} if step else {}),
        "state": f"EVENT_STATE_{state}",
    } | more  # fmt: skip
    return json.dumps(members, separators=(",", ":"))


def file_of(*events: str) -> bytes:
    """Give a file of events."""
    return "".join(f"{line}\n" for line in events).encode()


BEGUN = file_of(event(1, "STARTED", "10-files"), event(2, "SUCCEEDED", "10-files"), event(3, "STARTED", "20-kubeadm"))
FAILED = BEGUN + file_of(event(4, "FAILED", "20-kubeadm", exitCode=1, reason="CommandFailed"))
COMPLETE = BEGUN + file_of(event(4, "SUCCEEDED", "20-kubeadm"), event(5, "COMPLETE"))


def bundle_of(files: dict[str, bytes]) -> bytes:
    """Give a log bundle."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return target.getvalue()


def files_of(bundle: bytes) -> dict[str, bytes]:
    """Give the files in a log bundle."""
    with tarfile.open(fileobj=io.BytesIO(bundle), mode="r:gz") as archive:
        opened = {member.name: archive.extractfile(member) for member in archive}
        return {name: stream.read() if stream else b"" for name, stream in opened.items()}


class Clock:
    """Milliseconds since 1970 that go on by one each time they are read."""

    def __init__(self, now: int = 1_800_000_000_000) -> None:
        self.now = now

    def __call__(self) -> int:
        self.now += 1
        return self.now


def store_of(folder: Path, clock: Clock) -> tuple[Objects, ReportStore]:
    """Give a store in a folder."""
    objects = Objects.of(f"file://{folder}")
    return objects, ReportStore(objects, clock)


def contents(folder: Path) -> bytes:
    """Give the bytes of all files in a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
