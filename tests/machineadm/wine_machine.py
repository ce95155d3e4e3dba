"""Windows machines of Wine's for tests of machineadm.exe: what `LinuxMachine` is for the runners.

Wine takes long to start, so all machines of a test run are played one after the other in one sandbox; what differs
between them is the disk. It has the paths of Linux for what both have, so that tests of both read the same places.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slipway.contract.content import SecretIndex, content_bytes
from slipway.v1alpha1 import os_pb2 as ospb
from tests.machineadm.forwarding_library import forwarding_library
from tools.oracles import sandbox
from tools.oracles.sandbox import Command, File, Sandbox

RUN = ("run", "--retry-pause", "0s")
_DRIVE = "/wine/drive_c"
_SYSTEM = "windows/system32"
_LINUX_FOLDER, _FOLDER = "/var/lib/slipway", "/ProgramData/slipway"
_SECONDS = 3600.0
_RANDOM = forwarding_library("bcryptprimitives.dll", {"ProcessPrng": "advapi32.SystemFunction036"})
_ENVIRONMENT = {
    **sandbox.ENVIRONMENT, "HOME": "/root", "PATH": f"/usr/lib/wine:{sandbox.PATH}",
    "WINEPREFIX": "/wine", "WINEPATH": "C:\\fake", "WINEDEBUG": "-all",
}  # fmt: skip
# A power cut ends machineadm and all that it has started, and leaves the services of Wine: they are not on a disk.
_PLAY = r"""
drive=/wine/drive_c
end_all() {
  # machineadm first: what it waits for must not seem to end by itself.
  for pattern in '*machineadm.exe*' '*fake*' '*cmd.exe*'; do
    for process in /proc/[0-9]*; do
      case $(tr '\0' ' ' <$process/cmdline) in
      $pattern) kill -9 ${process#/proc/} ;;
      esac
    done
  done
} 2>/dev/null
begin() {
  end_all
  find $drive -maxdepth 1 -type f -delete
  rm -rf $drive/ProgramData/slipway $drive/run
  echo "machine $1" >/dev/console
}
start() {
  given=/given/$1 seen=/seen/$1 until=$2
  shift 2
  mkdir -p $seen
  cp -r $given/. $drive
  timeout -s KILL 600 wine64 'C:\fake\machineadm.exe' "$@" >$seen/output 2>&1 &
  while [ $until = cut ] && [ ! -e $drive/cut ] && kill -0 $!; do
    sleep 0.1
  done
  [ $until = end ] || end_all
  wait $!
  echo $? >$seen/code
  # Wine ends the processes of a job one after the other, and has answered before the last is gone.
  for second in 1 2 3 4 5 6 7 8 9 10; do
    cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' >$seen/processes
    grep -q linger $seen/processes || break
    sleep 1
  done
  mkdir $seen/disk
  find $drive -maxdepth 1 -type f -exec cp '{}' $seen/disk ';'
  cp -r --parents $drive/run $drive/ProgramData/slipway $seen/disk 2>/dev/null
  mv $seen/disk/wine/drive_c/* $seen/disk
}
wineserver64 --persistent
"""


@dataclass(frozen=True)
class Start:
    """A start of machineadm on a machine.

    Attributes:
        files: written before, by their paths.
        boot: the number of the boot.
        arguments: of machineadm.
        cut: a fake says when the power is taken away.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    boot: int = 1
    arguments: Sequence[str] = RUN
    cut: bool = False


@dataclass(frozen=True)
class Seen:
    """A machine after a start: its disk, what machineadm has printed, and the words of all command lines."""

    code: int
    output: str
    processes: Sequence[str]
    disk: Path
    console: Path

    def path(self, path: str) -> Path:
        """Give the place of a file, by its path on Linux or on Windows."""
        return self.console if path == "/dev/console" else self.disk / _inside(path).lstrip("/")

    def ran(self) -> list[str]:
        """Give the steps that ran, in order."""
        return [line.strip() for line in self.lines("/ran")]

    def lines(self, path: str) -> list[str]:
        """Give the lines of a file; none where there is no such file."""
        place = self.path(path)
        return place.read_text().splitlines() if place.exists() else []


def contents(files: Iterable[ospb.File]) -> dict[str, bytes]:
    """Give what a provisioner writes, by path."""
    return {file.path: content_bytes(file.content, SecretIndex([])) for file in files}


def play(
    machines: Mapping[str, Sequence[Start]], machine: Sandbox, programs: Mapping[str, Path]
) -> dict[str, Sequence[Seen]]:
    """Play all machines; give each after each of its starts."""
    files = {f"{_DRIVE}/fake/{name}.exe": File(host=program) for name, program in programs.items()}
    files[f"{_DRIVE}/{_SYSTEM}/bcryptprimitives.dll"] = File(_RANDOM)
    lines = []
    for number, starts in enumerate(machines.values()):
        lines.append(f"begin {number}")
        for at, start in enumerate(starts):
            lines.append(f"start {number}/{at} {'cut' if start.cut else 'end'} {' '.join(start.arguments)}")
            contents = {**start.files, "/boot": str(start.boot).encode()}
            files |= {f"/given/{number}/{at}{_inside(path)}": File(content) for path, content in contents.items()}
    files["/play"] = File((_PLAY + "\n".join(lines)).encode())
    (outcome,) = machine.session([Command(("/bin/sh", "/play"), _SECONDS, environment=_ENVIRONMENT)], files=files)
    assert not outcome.timed_out, outcome.output
    consoles = machine.console.decode().split("machine ")[1:]
    seen: dict[str, Sequence[Seen]] = {}
    for number, (name, starts) in enumerate(machines.items()):
        console = machine.scratch / f"console-{number}"
        console.write_text(consoles[number].partition("\n")[2])
        places = [machine.upper / f"seen/{number}/{at}" for at in range(len(starts))]
        seen[name] = [_read(place, console) for place in places]
    return seen


def _read(place: Path, console: Path) -> Seen:
    code = int((place / "code").read_text())
    output, processes = ((place / name).read_text(errors="replace") for name in ("output", "processes"))
    return Seen(code, output.replace("\r", ""), processes.splitlines(), place / "disk", console)


def _inside(path: str) -> str:
    return path.removeprefix("C:").replace("\\", "/").replace(_LINUX_FOLDER, _FOLDER)
