"""A real server of S3: versitygw, with a folder for each bucket."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.oracles import go_programs
from tools.oracles.failures import EngineBroken

NAME = "versitygw"
REGION = "us-east-1"
_LOOPBACK = "127.0.0.1"
_SECONDS = 60.0
_KEY, _SECRET = "test", "testsecret"  # of a server that only this process reaches


@dataclasses.dataclass(slots=True)
class ObjectStore:
    """A server that runs.

    Attributes:
        port: where it listens, on this machine only.
        folder: its buckets.
        process: the server.
    """

    port: int
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def address(self) -> str:
        """Its address."""
        return f"http://{_LOOPBACK}:{self.port}"

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
    program = go_programs.PROGRAMS[NAME].require()
    with socket.create_server((_LOOPBACK, 0)) as free:
        port = free.getsockname()[1]
    environment = {"PATH": os.environ["PATH"], "ROOT_ACCESS_KEY": _KEY, "ROOT_SECRET_KEY": _SECRET}
    command = [str(program), "--port", f"{_LOOPBACK}:{port}", "--region", REGION, "posix", str(folder)]
    log = folder.with_suffix(".log")
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
    store = ObjectStore(port, folder, process)
    try:
        _wait(store, log)
        yield store
    finally:
        store.stop()


def _wait(store: ObjectStore, log: Path) -> None:
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline and store.process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection((_LOOPBACK, store.port), timeout=1):
            return
        time.sleep(0.05)
    raise EngineBroken(f"{NAME}: {log.read_text(errors='replace')[-1000:]}")
