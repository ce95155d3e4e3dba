"""Readers that go away, streams that are closed, Ctrl-C: what only a process of its own can show."""

import fcntl
import io
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.services.cli.conftest import EXAMPLES

pytestmark = pytest.mark.long

SLIPWAY = f"{sys.executable} -m slipway.cli"
NATIVE, AWS = EXAMPLES / "native.yaml", EXAMPLES / "cluster-aws.yaml"

LINES = [
    (f"{SLIPWAY} explain -f {AWS} -o json | head -1", 0, "[\n", "", "a reader that takes one line"),
    (f"{SLIPWAY} import {AWS} 2>/dev/null | head -c 1", 0, "a", "", "a reader that takes one byte"),
    (f"{SLIPWAY} validate -f {NATIVE} >&-", 0, "", "", "a closed standard output"),
    (f"{SLIPWAY} validate -f {NATIVE} 2>&- | head -c 0", 0, "", "", "a closed standard error"),
    (f"{SLIPWAY} validate -f - <&-", 2, "", "standard input is closed", "a closed standard input"),
    (f"{SLIPWAY} validate -f {NATIVE} >/dev/full", 1, "", "No space left on device", "a full disk"),
    (f"PYTHONIOENCODING=ascii {SLIPWAY} validate -f {NATIVE} | head -c 1", 0, "+", "", "a terminal without box lines"),
    (f"{SLIPWAY} render -f {NATIVE} --provisioner nobody; echo $?", 0, "2\n", "no provisioner nobody", "usage"),
]


@pytest.mark.parametrize(("line", "code", "out", "err", "reason"), LINES, ids=[row[-1] for row in LINES])
def test_streams(line: str, code: int, out: str, err: str, reason: str) -> None:
    """No traceback, no "Exception ignored", the exit code that the command itself has."""
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, reason
    assert "Exception ignored" not in done.stderr, reason
    assert "BrokenPipe" not in done.stderr, reason
    assert (done.returncode, done.stdout.lstrip()[: len(out)]) == (code, out), (reason, done.stderr)
    assert err in done.stderr, reason


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interruption_is_quiet(number: signal.Signals) -> None:
    """Ctrl-C, or the end that a CI job is asked for, while a command waits for its input: one word and 130."""
    # A shell makes its background jobs ignore Ctrl-C, and their children with them.
    argv = ["env", "--default-signal=INT", sys.executable, "-m", "slipway.cli", "validate", "-f", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        _until_it_reads(process.pid)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")


def test_nothing_is_coloured_off_a_terminal(tmp_path: Path) -> None:
    """A pipe and a file get plain text, whatever the environment says of the terminal."""
    environment = {**os.environ, "TERM": "xterm-256color"}
    argv = [sys.executable, "-m", "slipway.cli", "render", "-f", str(NATIVE), "--machine", "harbour-worker"]
    argv += ["--provisioner", "all"]
    done = subprocess.run(argv, capture_output=True, env=environment, check=False)
    assert b"\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize("columns", [20, 60])
@pytest.mark.parametrize("command", ["validate", "explain"])
def test_a_narrow_terminal_breaks_no_word(command: str, columns: int) -> None:
    """A name can be read and copied from it; a line may be longer than the terminal in its place."""
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        argv = [sys.executable, "-m", "slipway.cli", command, "-f", str(NATIVE), "--machine", "harbour-worker"]
        with subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL) as process:
            os.close(theirs)
            shown = all_shown(screen)
        assert process.returncode == 0
    words = (
        {"harbour-worker", "kubernetes"} if command == "validate" else {"os.kernelModules[0]", "cloud-init", "rendered"}
    )
    assert not [word for word in words if word.encode() not in shown], shown.decode()


def all_shown(screen: io.RawIOBase) -> bytes:
    """Read a terminal until nobody has it open any more, which Linux tells by an error."""
    shown = b""
    try:
        while piece := screen.read(4096):
            shown += piece
    except OSError:
        pass
    return shown


def _until_it_reads(pid: int) -> None:
    """Wait until a process sleeps in a read of its standard input, as the kernel tells it."""
    syscall = Path(f"/proc/{pid}/syscall")
    while not syscall.read_text().startswith("0 0x0 "):
        os.sched_yield()
