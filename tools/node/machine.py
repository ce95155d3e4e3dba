"""One machine: booted from user data and nothing else, looked at from outside and from inside, switched off.

Its image is prepared as a cloud's would be, its name and those of its neighbours come from the network's side; all the
rest is what the user data does.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.node import cgroups, ending, machine_init, watchers
from tools.node.first_disk import FirstBoot, FirstDisk
from tools.node.process import Process, numbers
from tools.oracles import cache
from tools.oracles.failures import EngineBroken, EngineTimeout

SENTINEL = "/run/cluster-api/bootstrap-success.complete"
_ENVIRONMENT = (
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "TERM=dumb",
    "KUBECONFIG=/etc/kubernetes/admin.conf",
)  # fmt: skip
_JOIN = 'for one in /sys/fs/cgroup/*/"$0"/machine/cgroup.procs; do echo $$ >"$one"; done; exec "$@"'
_BOOTED = ("running", "degraded")
_PAUSE, _LONG_PAUSE = 0.1, 0.4
_DEPTH = 3  # here, in the site, in the machine
_LAUNCHER = "launcher.json"


@dataclasses.dataclass(frozen=True, slots=True)
class Done:
    """How a command on a machine ended."""

    status: int
    output: str
    errors: str


class Machine:
    """A machine of a site; ``Site.machine`` makes it.

    Args:
        site: the site's folder.
        init: the site's first process.
        first: what it is made of.
    """

    def __init__(self, site: Path, init: int, first: FirstDisk) -> None:
        self.name = first.name
        self.number = first.number
        self.address = first.address
        self.folder = first.folder(site)
        self._site = site
        self._init = init
        self._first = first
        self._group = first.group(site)
        self.powered_at = 0.0
        self._asked = ""
        self._kills_before = ending.kills()
        self._launcher: subprocess.Popen[bytes] | None = None

    def boot(self, user_data: bytes | None = None, *, by: FirstBoot = FirstBoot.CLOUD_INIT) -> None:
        """Switches the machine on; with user data for the first time, without on the disk that it has.

        Raises:
            EngineBroken: Ignition refuses the user data, as it would on the console of a machine; or the machine ends
                at once, or root's watchers of files are used up.
        """
        if user_data is not None:
            self._first.prepare(self._site, user_data, by)
        watchers.wait_free(self.name)
        order = self.folder / "order.json"
        self.powered_at = time.time()
        self._asked, self._kills_before = "", ending.kills()
        with order.open("rb") as order_file, (self.folder / ending.LOG).open("ab") as log:
            inside = ("nsenter", f"--target={self._init}", "--mount", "--net", "--pid", "--")
            self._launcher = subprocess.Popen(
                [*inside, sys.executable, "-m", machine_init.__name__], stdin=order_file, start_new_session=True,
                stdout=subprocess.DEVNULL, stderr=log,
            )  # fmt: skip
        launcher = dataclasses.asdict(Process.of(self._launcher.pid))
        (self.folder / _LAUNCHER).write_text(json.dumps(launcher), encoding="utf-8")
        self._wait(lambda: self.leader() is not None, "the machine did not start", timeout=30.0)

    def wait_sentinel(self, *, timeout: float = 120.0) -> None:
        """Waits until the machine says that its bootstrap succeeded.

        Raises:
            EngineBroken: it says that it failed, or has ended.
            EngineTimeout: it says nothing.
        """

        def told() -> bool:
            if self.failures():
                time.sleep(_PAUSE)  # the runner writes the tail after the line
                raise EngineBroken(f"{self.name}: {self.failures()[0]}")
            return self.exists(SENTINEL)

        self._wait(told, "no sentinel", timeout=timeout)

    def wait_running(self, *, timeout: float = 60.0) -> None:
        """Waits until everything that belongs to a boot was started, whether that went well or not."""

        def told() -> bool:
            return self.run(["systemctl", "is-system-running"]).output.strip() in _BOOTED

        self._wait(told, "the boot did not end", timeout=timeout, pause=_LONG_PAUSE)

    def run(self, argv: Sequence[str], *, timeout: float = 60.0, stdin: bytes = b"") -> Done:
        """Runs a command inside, as root.

        Raises:
            EngineBroken: the machine is off.
            EngineTimeout: the command was killed.
        """
        command = [*self.words_to_enter(), *argv]
        try:
            done = subprocess.run(command, input=stdin, check=False, capture_output=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise EngineTimeout(f"{self.name}: {argv[0]} was killed after {timeout:.0f} s") from None
        return Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    def exists(self, path: str) -> bool:
        """Whether a file is there; a file of /run goes with the machine."""
        leader = self.leader()
        return leader is not None and Path(f"/proc/{leader}/root{path}").exists()

    def failures(self) -> list[str]:
        """The records of failed steps: the first line says which, the rest is the tail of what it printed."""
        state = self.disk / "var/lib/slipway/state"
        return [path.read_text(encoding="utf-8", errors="replace") for path in sorted(state.glob("*/*.failed"))]

    @property
    def disk(self) -> Path:
        """The machine's own files, as this machine sees them: only what was written since the image."""
        return Path(f"/proc/{self._init}/root{self.folder}/disk/upper")

    def journal(self, *arguments: str) -> str:
        """The system's journal, of all boots; on or off."""
        command = ["journalctl", "--quiet", "--no-pager", f"--directory={self.disk / 'var/log/journal'}", *arguments]
        done = subprocess.run(command, check=False, capture_output=True)
        return done.stdout.decode(errors="replace")

    def serial(self) -> str:
        """Everything that the machine wrote to its console, over all boots."""
        console = self.folder / ending.CONSOLE
        return console.read_text(encoding="utf-8", errors="replace") if console.exists() else ""

    def power_off(self, *, timeout: float = 60.0) -> None:
        """Shuts down in order."""
        self.run(["systemctl", "poweroff"])
        self._asked = "it was asked to power off"
        self._wait(lambda: not self.on, "the machine did not power off", timeout=timeout)

    def cut_power(self) -> None:
        """Ends the machine as a power cut does: nothing in it gets a say."""
        leader = self.leader()
        if leader is not None:
            cgroups.kill(self._group, depth=_DEPTH)
            self._asked = "its power was cut"
        self._wait(lambda: not self.on, "the machine is still there", timeout=30.0)

    def reboot(self, *, timeout: float = 90.0) -> None:
        """Boots again, in order; gives when the next boot has begun."""
        before = self.boots
        self.run(["systemctl", "reboot"])
        self.wait_reboot(before, timeout=timeout)

    def wait_reboot(self, before: int, *, timeout: float = 90.0) -> None:
        """Waits until more boots have begun than before."""
        self._wait(lambda: self.boots > before and self.leader() is not None, "no reboot", timeout=timeout)

    @property
    def boots(self) -> int:
        """How often it has booted."""
        count = self.folder / "boots"
        return count.stat().st_size if count.exists() else 0

    @property
    def on(self) -> bool:
        """Whether it runs, or is about to boot again."""
        if self._launcher:
            return self._launcher.poll() is None
        return self.leader() is not None

    @property
    def processor_seconds(self) -> float:
        """What everything on it has used of the processors so far."""
        return cgroups.processor_seconds(self._group)

    def words_to_enter(self) -> list[str]:
        """The words before a command that make it run inside.

        Raises:
            EngineBroken: the machine is off.
        """
        leader = self.leader()
        if leader is None:
            raise EngineBroken(f"{self.name} {'is about to boot again' if self.on else f'is off: {self._cause()}'}")
        return entry(leader, self._group)

    def leader(self) -> int | None:
        """The machine's first process, as this machine numbers it."""
        path = self.folder / _LAUNCHER
        if not path.exists() or (self._launcher and self._launcher.poll() is not None):
            return None
        launcher = Process(**json.loads(path.read_text(encoding="utf-8")))
        return _first_process(launcher.pid) if launcher.there else None

    def forget(self) -> None:
        """Waits for the end of a machine whose site has ended."""
        if self._launcher:
            self._launcher.wait()

    def destroy(self) -> None:
        """Ends the machine, if it is on, and removes everything of it."""
        self.cut_power()
        self.forget()
        cgroups.remove(self._group)
        cache.discard(self.folder)

    def wait_until(self, holds: Callable[[], bool], what: str, *, timeout: float, asks: bool = False) -> None:
        """Waits for something, as long as the machine is on.

        Args:
            holds: whether it has come.
            what: is said when it does not.
            timeout: in seconds.
            asks: to know it takes a program on the machine, which needs the processors that it waits for.

        Raises:
            EngineTimeout: it did not come.
            EngineBroken: the machine has ended.
        """
        self._wait(holds, what, timeout=timeout, pause=_LONG_PAUSE if asks else _PAUSE)

    def _wait(self, holds: Callable[[], bool], what: str, *, timeout: float, pause: float = _PAUSE) -> None:
        deadline = time.monotonic() + timeout
        while not holds():
            if not self.on:
                raise EngineBroken(f"{self.name}: {what}: it is off: {self._cause()}")
            if time.monotonic() > deadline:
                circumstances = ending.circumstances(self.folder, kills_before=self._kills_before)
                raise EngineTimeout(f"{self.name}: {what} after {timeout:.0f} s{circumstances}")
            time.sleep(pause)

    def _cause(self) -> str:
        status = self._launcher.poll() if self._launcher else None
        return ending.cause(self.folder, status=status, asked=self._asked, kills_before=self._kills_before)


def entry(leader: int, group: str) -> list[str]:
    """The words before a command that make it run inside of a machine, in its control groups, too."""
    return [
        "sh", "-c", _JOIN, group,
        "nsenter", f"--target={leader}", "--mount", "--net", "--pid", "--uts", "--ipc", "--cgroup",
        f"--root=/proc/{leader}/root", f"--wd=/proc/{leader}/root", "--", "env", "-i", *_ENVIRONMENT,
    ]  # fmt: skip


def _first_process(pid: int) -> int | None:
    """The descendant that is the first process of the innermost namespace: the machine's."""
    try:
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split():
            known = numbers(int(child))
            if len(known) >= _DEPTH and known[-1] == 1:
                return int(child)
            if (process := _first_process(int(child))) is not None:
                return process
    except (FileNotFoundError, ProcessLookupError):
        pass
    return None
