"""The command line as a function, and everything of Slipway as processes of this machine, started once."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from slipway.cli.command_line import cli

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
Slipway = Callable[..., Result]


def with_worker_os(text: str) -> str:
    """Give the native example with another `os` for its worker, the last config in it."""
    before, _, after = (EXAMPLES / "native.yaml").read_text().rpartition("  os:\n")
    return f"{before}  os:\n{text}  kubernetes{after.partition('  kubernetes')[2]}"


@pytest.fixture
def slipway(monkeypatch: pytest.MonkeyPatch) -> Slipway:
    """A function that runs a command in this process, and gives exit code, stdout and stderr."""
    for name in [name for name in os.environ if name.startswith("SLIPWAY_") and "ENGINES" not in name]:
        monkeypatch.delenv(name)

    def run(*arguments: str | Path, stdin: str | bytes = "") -> Result:
        result = CliRunner().invoke(cli, [str(argument) for argument in arguments], input=stdin)
        unexpected = result.exception is not None and not isinstance(result.exception, SystemExit)
        assert not unexpected, result.exception
        assert "Traceback" not in result.output
        assert "internal error" not in result.output
        return result

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a file and gives its path."""

    def put(text: str | bytes, name: str = "f.yaml") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return put


@dataclass(frozen=True)
class Local:
    """Services that run.

    Attributes:
        flags: the options that have a command ask them.
        credentials: where they keep the clusters' secrets.
        services: what `slipway up -o json` printed.
        process: `slipway up`.
    """

    flags: tuple[str, ...]
    credentials: Path
    services: list[dict[str, object]]
    process: subprocess.Popen[str]


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    """Everything as `slipway up` starts it."""
    credentials = tmp_path_factory.mktemp("server-credentials")
    port = _two_ports()
    argv = [sys.executable, "-m", "slipway.cli", "up", "--port", str(port), "--credentials", str(credentials)]
    with subprocess.Popen([*argv, "-o", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.rstrip() == "]":
                break
        flags = ("--server", f"127.0.0.1:{port + 1}", "--registry", f"127.0.0.1:{port}", "--insecure")
        try:
            yield Local(flags, credentials, json.loads("".join(lines)), process)
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=30) == 0, process.stderr.read() if process.stderr else ""


def _two_ports() -> int:
    """Give a port that is free, and so is the next one."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = int(first.getsockname()[1])
            try:
                second.bind(("127.0.0.1", port + 1))
            except (OSError, OverflowError):
                continue
            return port
