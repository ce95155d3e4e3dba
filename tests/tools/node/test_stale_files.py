"""What the files of a site say of processes is believed of those processes only, never of others with their numbers.

No machine is booted: a bystander is a process of this test, and the files are as a killed keeper leaves them.
"""

import dataclasses
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tools.node import keeper, machine, site
from tools.node.first_disk import FirstDisk
from tools.node.machine import Machine
from tools.node.process import Process
from tools.oracles import cache


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has nothing to do with any site."""
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, start_new_session=True
    ) as process:
        yield process


@pytest.fixture
def alive(tmp_path: Path) -> Iterator[None]:
    """Somebody holds the lock of the site in ``tmp_path``."""
    with (tmp_path / keeper.ALIVE).open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _write(folder: Path, holder: Process, init: Process) -> None:
    state = {"keeper": dataclasses.asdict(holder), "init": dataclasses.asdict(init)}
    (folder / keeper.STATE).write_text(json.dumps(state), encoding="utf-8")


def _earlier(process: Process) -> Process:
    return dataclasses.replace(process, start=process.start - 1)


def _of_another_boot(process: Process) -> Process:
    return dataclasses.replace(process, boot="0f5c2a6e-0000-4000-8000-000000000000")


def test_a_site_that_nobody_holds_has_ended(tmp_path: Path, bystander: subprocess.Popen[bytes]) -> None:
    """Its processes have their numbers still, or again; the lock is free, and so nothing is ended."""
    (tmp_path / keeper.ALIVE).touch()
    one = Process.of(bystander.pid)
    _write(tmp_path, one, one)
    with pytest.raises(FileNotFoundError):
        site.reopened(tmp_path)


@pytest.mark.usefixtures("alive")
@pytest.mark.parametrize("stale", [_earlier, _of_another_boot])
@pytest.mark.parametrize("which", ["keeper", "init"])
def test_a_number_that_was_given_again_is_not_believed(
    tmp_path: Path, bystander: subprocess.Popen[bytes], stale: Callable[[Process], Process], which: str
) -> None:
    """Start time and boot must be those of the process that wrote the file, of both processes."""
    one = Process.of(bystander.pid)
    _write(tmp_path, one, one)
    assert site.reopened(tmp_path).keeper == one
    _write(tmp_path, stale(one) if which == "keeper" else one, stale(one) if which == "init" else one)
    with pytest.raises(FileNotFoundError):
        site.reopened(tmp_path)


def test_ending_the_standing_site_ends_no_bystander(
    tmp_path: Path, bystander: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note and the site's files are left over: the end says that there was none, and signals nobody."""
    monkeypatch.setattr(cache, "directory", lambda: tmp_path)
    folder = tmp_path / "left"
    folder.mkdir()
    (folder / keeper.ALIVE).touch()
    _write(folder, Process.of(bystander.pid), Process.of(bystander.pid))
    (tmp_path / "standing-site").write_text(str(folder), encoding="utf-8")
    assert not site.end_standing()
    assert bystander.poll() is None


def test_a_site_that_ended_after_it_was_found_signals_nobody(
    tmp_path: Path, bystander: subprocess.Popen[bytes]
) -> None:
    """Between the look and the signal the number may have gone to another process."""
    site.Site(tmp_path, keeper=_earlier(Process.of(bystander.pid)), init=bystander.pid).close()
    assert bystander.poll() is None


def test_a_machine_is_entered_by_its_own_launcher_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stale file of the launcher leads to no process."""
    monkeypatch.setattr(machine, "_first_process", lambda pid: pid)
    one = Machine(tmp_path, os.getpid(), FirstDisk(name="one", number=1))
    one.folder.mkdir()
    launcher = one.folder / "launcher.json"
    me = Process.of(os.getpid())
    launcher.write_text(json.dumps(dataclasses.asdict(me)), encoding="utf-8")
    assert one.leader() == me.pid
    for stale in (_earlier(me), _of_another_boot(me)):
        launcher.write_text(json.dumps(dataclasses.asdict(stale)), encoding="utf-8")
        assert one.leader() is None


def test_a_process_that_is_gone_is_not_there() -> None:
    """Neither its number nor a descriptor of it can be had."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        one = Process.of(process.pid)
        assert one.there
    assert not one.there
    assert one.held() is None
    with pytest.raises(ProcessLookupError):
        Process.of(process.pid)
