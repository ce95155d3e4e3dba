"""Processes: they end and start again on their own, tell why they ended, and never outlive who started them."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools.cluster import processes
from tools.cluster.failures import ProcessEnded
from tools.oracles.failures import EngineTimeout

_SERVER = ("sh", "-c", "echo up $$; exec sleep 600")
_POLITE = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(print("bye")))
print("up", flush=True)
signal.pause()
"""
_OWNER = """
import sys
from pathlib import Path
from tools.cluster import processes
with processes.supervisor(Path(sys.argv[1])) as held:
    made = held.process("sleeper", ("sleep", "600"), ready=lambda: True)
    made.start()
    print(made.pid, flush=True)
    sys.stdin.read()
"""


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_a_process_ends_and_starts_again(tmp_path: Path) -> None:
    """With the same command and the same log, under a new process id; the supervisor ends it for good."""
    with processes.supervisor(tmp_path) as held:
        made = held.process("server", _SERVER, ready=lambda: f"up {made.pid}\n" in made.tail())
        assert not made.running
        made.start()
        first = made.pid
        made.restart()
        assert made.pid != first
        assert not alive(first)
        last = made.pid
    assert not alive(last)
    assert (tmp_path / "server.log").read_text() == f"up {first}\nup {last}\n"


def test_a_stopped_process_can_be_ended(tmp_path: Path) -> None:
    """One that was frozen by a test ends by SIGTERM, not only by SIGKILL after the time of grace."""
    with processes.supervisor(tmp_path) as held:
        made = held.process("server", (sys.executable, "-c", _POLITE), ready=lambda: "up" in made.tail())
        made.start()
        made.signal(signal.SIGSTOP)
        os.waitid(os.P_PID, made.pid, os.WSTOPPED | os.WNOWAIT)
        made.stop()
        assert not made.running
    assert "bye" in made.tail()


def test_the_end_of_the_log_tells_why(tmp_path: Path) -> None:
    """A program that ends instead of serving is an error with its last words."""
    with processes.supervisor(tmp_path) as held:
        made = held.process("broken", ("sh", "-c", "echo no such flag >&2; exit 3"), ready=lambda: False)
        with pytest.raises(ProcessEnded, match="no such flag"):
            made.start()


def test_nothing_outlives_a_killed_owner(tmp_path: Path) -> None:
    """SIGKILL of the owner is the end of its processes: the kernel sees to it."""
    with subprocess.Popen(
        [sys.executable, "-c", _OWNER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        pid = int(owner.stdout.readline())
        assert alive(pid)
        # Readable as soon as the process has ended, which is not a child of this one.
        ending = os.pidfd_open(pid)
        owner.send_signal(signal.SIGKILL)
        owner.communicate()
    try:
        readable, _, _ = select.select([ending], [], [], 30)
    finally:
        os.close(ending)
    assert readable


def test_how_a_process_has_ended_is_told(tmp_path: Path) -> None:
    """Its status when it ends by itself; None before, and no wait for one that goes on, or was never started."""
    with processes.supervisor(tmp_path) as held:
        made = held.process("brief", ("sh", "-c", "read line; exit 3"), ready=lambda: True)
        with pytest.raises(ProcessEnded, match="not started"):
            made.wait_ended()
        assert made.status is None
        made.start()
        assert made.wait_ended(60) == made.status == 3
        lasting = held.process("lasting", _SERVER, ready=lambda: "up" in lasting.tail())
        lasting.start()
        assert lasting.status is None
        with pytest.raises(EngineTimeout, match="has not ended"):
            lasting.wait_ended(0.01)
