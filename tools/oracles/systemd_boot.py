"""A boot with the real systemd as PID 1, for what only it decides: order, conditions, what a unit really runs.

The machine's disk is the same overlay that the other engines work on, so it can be set up by Ignition or hold a
cloud-init seed before. systemd-nspawn walls it off: own namespaces of all kinds (users included, so that swap, clock
and mounts of the host are out of reach), /proc/sys and /sys read-only, no devices, no network.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping

from tools.node import cgroups, watchers
from tools.oracles import cache
from tools.oracles.failures import EngineBroken, EngineMissing, EngineTimeout
from tools.oracles.finding import Finding, error
from tools.oracles.sandbox import Command, File, Sandbox

_PATIENCE = 60.0
_END_SECONDS, _PAUSE = 10.0, 0.05
_RESULT = "/var/lib/engine-boot"
_UNIT = "/etc/systemd/system/engine-boot-done.service"
_DONE = f"""\
[Unit]
Description=End of the boot under test
[Service]
# Simple, so that its own start job is over while it waits for those of all others.
Type=simple
ExecStart=/bin/sh {_RESULT}/end
"""
_END = f"""\
systemctl is-system-running --wait >{_RESULT}/state
systemctl --failed --no-legend --plain >{_RESULT}/failed
journalctl --boot --no-pager --output=short-monotonic >{_RESULT}/journal
cp -a /run {_RESULT}/run
systemctl --no-block poweroff
"""
_TIMER = """\
[Unit]
Description=Starts the end of the boot under test once nothing else is waiting
[Timer]
OnStartupSec=1s
AccuracySec=100ms
Unit=engine-boot-done.service
"""
_PREPARE = f"""\
rm -rf {_RESULT}/run
[ -e /etc/ssh/ssh_host_ed25519_key ] || ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key
"""
_MOUNT_AND_BOOT = """\
set -e
for group in /sys/fs/cgroup/*/"$3"/machine; do [ ! -d "$group" ] || echo 0 >"$group/cgroup.procs"; done
layers=lowerdir=$1,upperdir=$2/upper,workdir=$2/work,metacopy=off,redirect_dir=off,index=off
mount -t overlay -o nodev,$layers overlay "$2/merged"
lower=$1 scratch=$2
shift 3
exec systemd-nspawn --quiet --directory="$scratch/merged" --register=no --keep-unit \
  --private-users=identity --console=pipe "$@" --boot systemd.wants=engine-boot-done.timer </dev/null
"""
_FIXED_MACHINE_ID = b"0123456789abcdef0123456789abcdef\n"  # Without one systemd presets every unit there is.


@dataclasses.dataclass(frozen=True, slots=True)
class Boot:
    """How a boot went: the units that failed, and systemd's own word for the state (running, degraded ...)."""

    state: str
    failed_units: frozenset[str]
    seconds: float
    journal: str = dataclasses.field(repr=False)

    @property
    def findings(self) -> list[Finding]:
        """Each failed unit as an error."""
        return [error("systemd", f"{unit} failed") for unit in sorted(self.failed_units)]


def given_files() -> dict[str, File]:
    """What the harness puts on the machine in order to learn of the end of the boot."""
    timer = _UNIT.replace(".service", ".timer")
    return {
        f"{_RESULT}/end": File(_END.encode()),
        _UNIT: File(_DONE.encode()),
        timer: File(_TIMER.encode()),
        "/etc/machine-id": File(_FIXED_MACHINE_ID, 0o444),
    }


def boot(box: Sandbox, *, files: Mapping[str, File] | None = None, timeout: float = 100.0) -> Boot:
    """Boots the machine up to the end of all start jobs, then powers it off; ``/run`` is kept for reading.

    Raises:
        EngineMissing: systemd-nspawn is not installed.
        EngineTimeout: the machine did not come to an end in ``timeout`` seconds.
        EngineBroken: it ended without coming up, or other machines left it no watchers of files.
    """
    if shutil.which("systemd-nspawn") is None:
        raise EngineMissing("roots", "no systemd-nspawn on this machine")
    (prepared,) = box.session([Command(("sh", "-c", _PREPARE))], files={**(files or {}), **given_files()})
    if prepared.status:
        raise EngineBroken(f"no boot: {prepared.output.decode(errors='replace')}")
    # A systemd that gets no watcher neither comes up nor ends.
    watchers.wait_free("the machine", timeout=_PATIENCE)
    start = time.monotonic()
    console = _nspawn(box, timeout=timeout)
    with (box.scratch / "console").open("ab") as kept:
        kept.write(console)
    result = box.upper / _RESULT.lstrip("/")
    if not (result / "run").is_dir():
        raise EngineBroken(f"the machine did not come up: {console[-1500:].decode(errors='replace')}")
    cache.discard(box.run_directory)
    shutil.move(result / "run", box.run_directory)
    return Boot(
        state=(result / "state").read_text(encoding="utf-8").strip(),
        failed_units=frozenset(
            line.split()[0] for line in (result / "failed").read_text(encoding="utf-8").splitlines() if line.strip()
        ),
        seconds=round(time.monotonic() - start, 1),
        journal=(result / "journal").read_text(encoding="utf-8", errors="replace"),
    )


def _nspawn(box: Sandbox, *, timeout: float) -> bytes:
    wall = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"]
    name = f"engine-{os.getpid()}-{box.scratch.name.encode().hex()}"
    programs = [f"--bind-ro={host}:{path}" for path, host in box.programs.items()]
    arguments = [f"--machine={name}", f"--hostname={box.hostname}", *programs]
    if box.neighbour:
        wall = ["nsenter", f"--net=/proc/{box.neighbour}/ns/net", *wall]
        arguments.append("--resolv-conf=off")
    else:
        arguments.append("--private-network")
    command = ["setpriv", "--pdeathsig", "KILL", "--", *wall, "sh", "-c", _MOUNT_AND_BOOT, "sh"]
    with (
        _group(name),
        subprocess.Popen(
            [*command, str(box.lower), str(box.scratch), name, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            console, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as late:
            output = (late.output or b"")[-1500:].decode(errors="replace")
            raise EngineTimeout(f"the boot was killed after {timeout:.0f} s: {output}") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return console


@contextlib.contextmanager
def _group(name: str) -> Iterator[None]:
    """Control groups of its own: a systemd that ends removes every empty group below its root, whose ever it is."""
    if not cgroups.available():
        yield
        return
    cgroups.make(name)
    try:
        yield
    finally:
        # What was killed is gone a moment later.
        deadline = time.monotonic() + _END_SECONDS
        cgroups.remove(name)
        while cgroups.with_prefix(name) and time.monotonic() < deadline:
            time.sleep(_PAUSE)
            cgroups.remove(name)
