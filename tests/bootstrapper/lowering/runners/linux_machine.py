"""A Linux machine for the runner's tests: a chroot in its own mount namespace, with a stub for a provisioner.

Everything below the root is a folder of the test, so a test sees what the runner leaves. Programs that would act on the
real machine, or wait, are fakes that write down how they were called.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from slipway.bootstrapper.lowering.runners.linux_file import RUN_PROGRAM
from slipway.bootstrapper.lowering.runners.lower_steps import LoweredSteps
from slipway.contract.content import SecretIndex, content_bytes
from slipway.v1alpha1 import os_pb2 as ospb

_HOST_FOLDERS = ("usr", "bin", "sbin", "lib", "lib64")
_FAKES = ("reboot", "sleep", "sync", "restorecon", "systemctl")
AGENT = "/fake/machineadm"
_DAEMONS = str(Path(__file__).with_name("node_daemons.py"))
_NEVER = ("busybox", "flock", "reboot", "halt", "poweroff", "init", "linuxrc")
_ENTER = """
root=$1
shift
for folder in $FOLDERS; do
  [ ! -d "$root/$folder" ] || [ -L "$root/$folder" ] || mount --bind -o ro "/$folder" "$root/$folder"
done
for file in $MOUNTED; do
  mount --bind "$root$file" "$root$file"
done
mount --bind /dev/null "$root/dev/null"
[ -z "$PROC" ] || mount --bind /proc "$root/proc"
hostname "$NAME"
exec $DAEMONS chroot "$root" "$@"
"""


@dataclass
class LinuxMachine:
    """A machine.

    Attributes:
        root: where its file system lies.
        shell: what is its `sh`: "dash", "bash" or "busybox". The last has no other programs, and no flock.
            Its shell has some programs built in, of which there can be no fakes.
        host_name: its host name.
        mounted: files that are bind mounts, as a container has some.
        agent: the binary of machineadm, which then runs in place of the runner; it may change between two starts.
        daemons: arguments of `node_daemons`, which then runs beside it. The machine has a network of its own with them,
            and with `is_alone`; else it has that of the host.
        is_alone: nothing listens in its network.
    """

    root: Path
    shell: str
    host_name: str = "node-1.example"
    mounted: list[str] = field(default_factory=list)
    agent: Path | None = None
    daemons: list[str] = field(default_factory=list)
    is_alone: bool = False
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("dev", "etc", "run", "tmp", "var/lib", "fake", "root", "home", "proc", "sys/class/dmi/id"):
            (self.root / name).mkdir(parents=True)
        (self.root / "dev/null").touch()
        (self.root / "dev/console").touch()
        (self.root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/sh\n")
        (self.root / "etc/group").write_text("root:x:0:\nalice:x:1000:\nstaff:x:50:\n")
        if self.shell == "busybox":
            self._install_busybox()
        else:
            self._borrow_host()
        for name in _FAKES:
            self.fake(name)

    def _install_busybox(self) -> None:
        folder = self.root / "bin"
        folder.mkdir()
        busybox = shutil.which("busybox")
        assert busybox
        shutil.copy(busybox, folder / "busybox")
        applets = subprocess.run([busybox, "--list"], check=True, capture_output=True, text=True).stdout.split()
        for applet in applets:
            if applet not in _NEVER:
                (folder / applet).symlink_to("busybox")

    def _borrow_host(self) -> None:
        for name in _HOST_FOLDERS:
            host = Path("/") / name
            if host.is_symlink():
                (self.root / name).symlink_to(host.readlink())
            elif host.is_dir():
                (self.root / name).mkdir()
        (self.root / "fake/sh").symlink_to(f"/bin/{self.shell}")

    def fake(self, name: str, body: str = "") -> None:
        """Put a program in front of the real one; it writes its arguments to /calls, then does `body`."""
        path = self.root / "fake" / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >>/calls\n{body}\n')
        path.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        """Calls of fakes, in order."""
        path = self.root / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def write(self, files: Iterable[ospb.File], secrets: SecretIndex | None = None) -> None:
        """Do what every provisioner can: write files."""
        for file in files:
            path = self.path(file.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content_bytes(file.content, secrets or SecretIndex([])))
            path.chmod(file.mode)

    def path(self, path: str) -> Path:
        """Give the place of a path of the machine."""
        return self.root / path.lstrip("/")

    def start(self, argv: Iterable[str], environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a program on the machine; its process id is that of the program itself."""
        path = "/fake:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        folders = "" if self.shell == "busybox" else " ".join(_HOST_FOLDERS)
        # What a real machine has as /bin/sh is first in the search path of this one.
        words = ["sh" if word == "/bin/sh" else word for word in argv]
        if self.agent is not None and RUN_PROGRAM in words:
            if not self.path(AGENT).exists():
                shutil.copy(self.agent, self.path(AGENT))
            at = words.index(RUN_PROGRAM)
            words[at - 1 : at + 1] = [AGENT, "run", "--retry-pause", "0s"]
        process = subprocess.Popen(
            [
                "/usr/bin/unshare",
                "-m",
                "-u",
                *(["-n"] if self.is_alone or self.daemons else []),
                "--propagation",
                "private",
                "/bin/sh",
                "-c",
                _ENTER,
                "sh",
                str(self.root),
                *words,
            ],
            env={
                "PATH": path,
                "FOLDERS": folders,
                "MOUNTED": " ".join(self.mounted),
                "NAME": self.host_name,
                # With it, the shell of busybox prefers its own programs to fakes.
                "PROC": "/proc" if self.agent or self.daemons else "",
                "DAEMONS": " ".join(
                    [sys.executable, _DAEMONS, str(self.root), *self.daemons, "--"] if self.daemons else []
                ),
                **(environment or {}),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def run(self, argv: Iterable[str]) -> int:
        """Run a program on the machine to its end; give its exit code."""
        process = self.start(argv)
        process.communicate(timeout=60)
        return process.returncode

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Take the power away from a program and all that it has started."""
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)

    def boot(self) -> None:
        """Start the machine again: what is in memory is gone."""
        shutil.rmtree(self.root / "run")
        (self.root / "run").mkdir()

    def close(self) -> None:
        """End everything that was started."""
        for process in self.started:
            if process.poll() is None:
                self.kill(process)
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()


def install(machine: LinuxMachine, result: LoweredSteps) -> list[str]:
    """Put the files there; give the entry point."""
    machine.write(result.files)
    return list(result.entrypoint.argv)


def ran(machine: LinuxMachine) -> list[str]:
    """Give the steps that ran, in order."""
    path = machine.path("/ran")
    return path.read_text().split() if path.exists() else []


def fifo(machine: LinuxMachine, name: str) -> Path:
    """Make a named pipe, on which a test and a step can wait for each other."""
    path = machine.path(name)
    os.mkfifo(path)
    return path
