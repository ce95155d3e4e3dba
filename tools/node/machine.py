"""One machine: booted from user data and nothing else, looked at from outside and from inside, switched off.

Its image is prepared as a cloud's would be, its name and those of its neighbours come from the network's side; all the
rest is what the user data does.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tools.node import addresses, cgroups, ending, machine_init, watchers
from tools.node.flavours import FLAVOURS, Flavour
from tools.node.process import Process, numbers
from tools.oracles import cache, ignition, sandbox
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
_CNI = "etc/cni/net.d/10-pods.conflist"


class FirstBoot(enum.StrEnum):
    """What reads user data on the machine."""

    CLOUD_INIT = "cloud-init"
    IGNITION = "ignition"


class Store(enum.StrEnum):
    """What container images a machine has when it boots for the first time."""

    WARM = "warm"
    EMPTY = "empty"


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
        name: host name.
        number: from 1; addresses follow from it.
        flavour: what is installed.
        store: which container images it has.
        disk_size: in bytes, for a disk that can be full; 0 for one that is not.
        neighbours: addresses by name, for /etc/hosts, beyond its own.
        meta_data: what the cloud says beyond instance id and host name.
    """

    def __init__(  # noqa: PLR0913 keyword-only, the rest with a default
        self,
        site: Path,
        init: int,
        *,
        name: str,
        number: int,
        flavour: Flavour = FLAVOURS["1.34"],
        store: Store = Store.WARM,
        disk_size: int = 0,
        neighbours: Mapping[str, str] | None = None,
        meta_data: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.number = number
        self.address = addresses.machine(number)
        self.folder = site / name
        self._site = site
        self._init = init
        self._group = f"{site.name}-{name}"
        self._flavour = flavour
        self._store = store
        self._disk_size = disk_size
        self._neighbours = dict(neighbours or {})
        self._meta_data = dict(meta_data or {})
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
            self._prepare(user_data, by)
        watchers.wait_free(self.name)
        order = self.folder / "order.json"
        self.powered_at = time.time()
        self._asked, self._kills_before = "", ending.kills()
        with order.open("rb") as told, (self.folder / ending.LOG).open("ab") as log:
            inside = ("nsenter", f"--target={self._init}", "--mount", "--net", "--pid", "--")
            self._launcher = subprocess.Popen(
                [*inside, sys.executable, "-m", machine_init.__name__], stdin=told, start_new_session=True,
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
                said = ending.circumstances(self.folder, kills_before=self._kills_before)
                raise EngineTimeout(f"{self.name}: {what} after {timeout:.0f} s{said}")
            time.sleep(pause)

    def _cause(self) -> str:
        status = self._launcher.poll() if self._launcher else None
        return ending.cause(self.folder, status=status, asked=self._asked, kills_before=self._kills_before)

    def _prepare(self, user_data: bytes, by: FirstBoot) -> None:
        disk = self.folder / "disk"
        for folder in (self.folder / "merged", self.folder / "small", disk):
            folder.mkdir(parents=True)
        lower = Path(f"{self._site}/layer:{self._flavour.root.require()}")
        box = sandbox.Sandbox(lower, disk, hostname=self.name)
        if by is FirstBoot.IGNITION:
            self._ignite(box, user_data)
        for path, content in self._given_files(user_data, by).items():
            target = box.upper / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        self._prepare_data(box.upper)
        cgroups.make(self._group)
        order = machine_init.Order(
            name=self.name, group=self._group, number=self.number, lower=str(lower), folder=str(self.folder),
            images=str(self._flavour.archive), binds=self._flavour.binds(), disk_size=self._disk_size,
        )  # fmt: skip
        (self.folder / "order.json").write_text(json.dumps(dataclasses.asdict(order)), encoding="utf-8")

    def _ignite(self, box: sandbox.Sandbox, config: bytes) -> None:
        machine = ignition.Machine(box, extra_files={})
        for outcome in machine.boot(config):
            if outcome.status:
                said = outcome.output.decode(errors="replace")[-2000:]
                raise EngineBroken(f"{' '.join(outcome.argv[:2])} ended with {outcome.status}: {said}")

    def _given_files(self, user_data: bytes, by: FirstBoot) -> dict[str, bytes]:
        hosts = {"127.0.0.1": "localhost", self.address: self.name}
        lines = [f"{address} {name}" for address, name in hosts.items()]
        lines += [f"{address} {name}" for name, address in self._neighbours.items()]
        files = {
            "etc/hostname": f"{self.name}\n".encode(),
            "etc/hosts": "".join(f"{line}\n" for line in lines).encode(),
            # CoreDNS forwards to the machine's name servers, and must have one; there is none in this network.
            "etc/resolv.conf": f"nameserver {addresses.GATEWAY}\n".encode(),
            _CNI: json.dumps(_pod_network(self.number)).encode(),
        }
        if by is FirstBoot.IGNITION:
            return {**files, "etc/cloud/cloud-init.disabled": b""}
        meta = {"instance-id": f"i-{self.name}", "local-hostname": self.name, **self._meta_data}
        seed = "var/lib/cloud/seed/nocloud"
        return {**files, f"{seed}/user-data": user_data, f"{seed}/meta-data": json.dumps(meta).encode()}

    def _prepare_data(self, upper: Path) -> None:
        for name in machine_init.DATA:
            data = self.folder / "data" / name
            data.parent.mkdir(exist_ok=True)
            if name == "containerd" and self._store is Store.WARM:
                copy_store(self._flavour.store, data)
            else:
                data.mkdir()
            written = upper / "var/lib" / name
            if written.exists():  # by Ignition, to what the mount of this folder would hide
                shutil.copytree(written, data, dirs_exist_ok=True, symlinks=True)


def entry(leader: int, group: str) -> list[str]:
    """The words before a command that make it run inside of a machine, in its control groups, too."""
    return [
        "sh", "-c", _JOIN, group,
        "nsenter", f"--target={leader}", "--mount", "--net", "--pid", "--uts", "--ipc", "--cgroup",
        f"--root=/proc/{leader}/root", f"--wd=/proc/{leader}/root", "--", "env", "-i", *_ENVIRONMENT,
    ]  # fmt: skip


def copy_store(source: Path, target: Path) -> None:
    """A containerd's folder again, with bytes of its own: root of a machine may write to any of them.

    Costs 0.3 s and 420 MB a machine where the file system cannot share blocks, and next to nothing where it can.
    """
    subprocess.run(["cp", "--archive", "--reflink=auto", source, target], check=True)


def _pod_network(number: int) -> dict[str, object]:
    ranges = [[{"subnet": addresses.pods(number)}]]
    bridge = {
        "type": "bridge", "bridge": "cni0", "isGateway": True, "ipMasq": True, "hairpinMode": True,
        "ipam": {"type": "host-local", "ranges": ranges, "routes": [{"dst": "0.0.0.0/0"}]},
    }  # fmt: skip
    plugins = [bridge, {"type": "portmap", "capabilities": {"portMappings": True}}]
    return {"cniVersion": "1.0.0", "name": "pods", "plugins": plugins}


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
