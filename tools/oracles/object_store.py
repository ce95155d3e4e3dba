"""A real server of S3: versitygw, with a folder for each bucket."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools.oracles import go_programs
from tools.oracles.failures import EngineBroken

NAME = "versitygw"
REGION = "us-east-1"
_LOOPBACK = "127.0.0.1"
_SECONDS = 60.0
_OWN_PORT = 8443
_ALONE = 'ip link set lo up && exec "$@"'
_KEY, _SECRET = "test", "testsecret"  # of a server that only this process reaches


@dataclasses.dataclass(slots=True)
class ObjectStore:
    """A server that runs.

    Attributes:
        port: where it listens, on this machine only.
        folder: its buckets.
        process: the server.
        scheme: "http" or "https".
    """

    port: int
    folder: Path
    process: subprocess.Popen[bytes]
    scheme: str = "http"

    @property
    def address(self) -> str:
        """Its address."""
        return f"{self.scheme}://{_LOOPBACK}:{self.port}"

    def environment(self) -> Mapping[str, str]:
        """The variables by which a client of S3 reaches it."""
        return {
            "AWS_ACCESS_KEY_ID": _KEY,
            "AWS_SECRET_ACCESS_KEY": _SECRET,
            "AWS_REGION": REGION,
            "AWS_ENDPOINT": self.address,
            "AWS_ALLOW_HTTP": "true",
            "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "false",
        }

    def bucket(self, name: str) -> str:
        """Makes a bucket; gives its URL."""
        (self.folder / name).mkdir()
        return f"s3://{name}"

    def stop(self) -> None:
        """Ends the server."""
        self.process.terminate()
        self.process.wait()


@contextlib.contextmanager
def object_store(folder: Path) -> Iterator[ObjectStore]:
    """Runs a server with the buckets of a folder.

    Raises:
        EngineMissing: it was not built yet.
        EngineBroken: it does not answer.
    """
    with socket.create_server((_LOOPBACK, 0)) as free:
        port = free.getsockname()[1]
    process = _start(folder, port)
    with _ready(ObjectStore(port, folder, process), ()) as store:
        yield store


@contextlib.contextmanager
def apart(folder: Path, certificate: Path, key: Path) -> Iterator[ObjectStore]:
    """Runs a server over HTTPS in a network of its own; a machine that is its neighbour can reach it.

    Raises:
        EngineMissing: it was not built yet.
        EngineBroken: it does not answer.
    """
    unshare = ("unshare", "--net", "--", "sh", "-c", _ALONE, "sh")
    process = _start(folder, _OWN_PORT, unshare, ("--cert", str(certificate), "--key", str(key)))
    enter = ("nsenter", f"--net=/proc/{process.pid}/ns/net")
    with _ready(ObjectStore(_OWN_PORT, folder, process, "https"), enter) as store:
        yield store


def _start(folder: Path, port: int, before: Sequence[str] = (), options: Sequence[str] = ()) -> subprocess.Popen[bytes]:
    program = go_programs.PROGRAMS[NAME].require()
    environment = {"PATH": os.environ["PATH"], "ROOT_ACCESS_KEY": _KEY, "ROOT_SECRET_KEY": _SECRET}
    command = [*before, str(program), "--port", f"{_LOOPBACK}:{port}", "--region", REGION, *options]
    with _log(folder).open("wb") as output:
        return subprocess.Popen(
            [*command, "posix", str(folder)],
            env=environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL,
        )  # fmt: skip


def _log(folder: Path) -> Path:
    return folder.with_suffix(".log")


@contextlib.contextmanager
def _ready(store: ObjectStore, enter: Sequence[str]) -> Iterator[ObjectStore]:
    """Gives the server when it listens, in the network that ``enter`` enters, and ends it."""
    connect = [*enter, "bash", "-c", f"exec 3<>/dev/tcp/{_LOOPBACK}/{store.port}"]
    deadline = time.monotonic() + _SECONDS
    try:
        while time.monotonic() < deadline and store.process.poll() is None:
            if subprocess.run(connect, check=False, capture_output=True).returncode == 0:
                yield store
                return
            time.sleep(0.05)
        raise EngineBroken(f"{NAME}: {_log(store.folder).read_text(errors='replace')[-1000:]}")
    finally:
        store.stop()
