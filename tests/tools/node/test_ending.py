"""A machine that is off says why, as long as its files are there; and none is switched on that could not live."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools.node import ending, watchers

# All machines take their watchers of files from one account, and so does a test here.
pytestmark = pytest.mark.xdist_group("node")

WALL = ("unshare", "--user", "--map-root-user")
LIMITED = "echo 5 >/proc/sys/user/max_inotify_instances"
ALONE = """
from tools.oracles.failures import EngineBroken
from tools.node import watchers
print(watchers.free(16), watchers.free(3))
try:
    watchers.wait_free("ship", timeout=0.6)
except EngineBroken as error:
    print(error)
"""


@pytest.fixture(autouse=True)
def _watchers_to_spare(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many root has left just now is none of these tests' matter."""
    monkeypatch.setattr(watchers, "free", lambda wanted: wanted)


def told(folder: Path, **known: object) -> str:
    """The cause, of what is not known nothing was amiss."""
    return ending.cause(folder, **{"status": 255, "asked": "", "kills_before": ending.kills(), **known})


def within(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What a script of the shell says in a user namespace of its own."""
    command = [*WALL, "sh", "-c", script, "sh", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("status", "asked", "words"),
    [
        (255, "", "it ended by itself, with 255"),
        (0, "", "it has powered itself off"),
        (-signal.SIGKILL, "", "its launcher was killed by signal 9"),
        (None, "", "how it ended is unknown"),
        (1, "its power was cut", "its power was cut"),
    ],
)
def test_the_status_says_how_it_ended(tmp_path: Path, status: int | None, asked: str, words: str) -> None:
    """Whoever switched it off is told in place of a status that follows from it."""
    assert told(tmp_path, status=status, asked=asked) == words


def test_the_last_words_of_both_logs_are_told_as_text(tmp_path: Path) -> None:
    """The end of each, without colours and empty lines; a log that is not there is not mentioned."""
    (tmp_path / ending.CONSOLE).write_bytes(
        b"first line\r\n" * 20 + b"[\x1b[0;1;31m!!!!!!\x1b[0m] Failed to allocate manager object.\r\n\r\n"
    )
    said = told(tmp_path).splitlines()
    assert said[1] == "--- its console ends:"
    assert said[-1] == "[!!!!!!] Failed to allocate manager object."
    assert len(said) == 12
    (tmp_path / ending.LOG).write_text("systemd-nspawn ended with 255 after 0.2 s\n")
    assert "--- its launcher ends:\nsystemd-nspawn ended with 255 after 0.2 s\n--- its console" in told(tmp_path)


def test_what_the_kernel_has_killed_is_told(tmp_path: Path) -> None:
    """The counter is that of the whole machine, and so counts from when this one was switched on."""
    assert "the kernel has killed 2 processes" in told(tmp_path, kills_before=ending.kills() - 2)
    assert "killed" not in told(tmp_path)


def test_no_watcher_of_files_left_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the name of the limit."""
    monkeypatch.setattr(watchers, "free", lambda _wanted: 0)
    assert told(tmp_path).endswith("root has no watcher of files left (fs.inotify.max_user_instances)")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as machines do")
def test_without_watchers_of_files_no_machine_is_switched_on() -> None:
    """In a user namespace with a limit of its own: as many as there are are found, and too few are refused in words."""
    tried = within(LIMITED)
    if tried.returncode:
        pytest.skip(f"this host gives no user namespace with limits of its own: {tried.stderr.strip()}")
    done = within(f'{LIMITED} && exec "$@"', sys.executable, "-c", ALONE)
    assert done.stdout.splitlines()[0] == "5 3", done.stderr
    assert "5 are left, and it needs 28" in done.stdout
    assert "sysctl -w fs.inotify.max_user_instances" in done.stdout
