"""First boots with block devices: cloud-init or Ignition on a whole machine of its own, in qemu.

What makes and mounts filesystems must never be run near the host's own. Here it has a kernel to itself, whose only
devices are files in a scratch folder; nothing goes in or out but two tar archives on two more of them. Each run boots
the machine twice, since a mount that is there only on the first day is none. The processor is emulated: where a
/dev/kvm is, it may still not work (within a virtual machine), and a check that has two ways to run has two results.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import io
import json
import os
import shutil
import signal
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.oracles import cache, presets, qemu_image, sandbox
from tools.oracles.failures import EngineBroken, EngineTimeout
from tools.oracles.sandbox import File

_GUEST = Path(__file__).with_name("qemu_guest")
_STATE = "/var/lib/engine"
_UNITS = "/etc/systemd/system"
_SEED = "/var/lib/cloud/seed/nocloud"
_CLOUD_SETTINGS = b"""\
growpart: {mode: "off"}
resize_rootfs: false
locale: C.UTF-8
datasource_list: [NoCloud]
network: {config: disabled}
ssh_deletekeys: false
ssh_genkeytypes: [ed25519]
"""
_MACHINE_ID = b"0123456789abcdef0123456789abcdef\n"  # Without one systemd presets every unit there is.
# A plain one: wide registers are slow to emulate, and each feature has the kernel load modules. It is without an
# instruction that qemu 7.2, Debian's in bookworm, emulates wrongly: newer kernels lose their memory by it.
_PROCESSOR = "qemu64,cx16=off"
# An emulated processor that others keep busy takes longer than systemd waits for a device.
_PATIENCE = b"[Manager]\nDefaultDeviceTimeoutSec=600\nDefaultTimeoutStartSec=600\nDefaultTimeoutStopSec=300\n"
# What takes a minute of an emulated processor, and has nothing to do with disks.
_MASKED = (
    "apparmor.service",
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "e2scrub_reap.service",
    "serial-getty@ttyS0.service",
    "ssh.service",
)
_RESULT_MIB = 64
_CONSOLE_KEPT = 4000


class Bus(enum.StrEnum):
    """How a device is attached, which decides its name: vdb, nvme0n1, sda."""

    VIRTIO = "virtio"
    NVME = "nvme"
    SCSI = "scsi"


@dataclasses.dataclass(frozen=True, slots=True)
class BlockDevice:
    """A disk. The first one on ``VIRTIO`` is /dev/vdb, and ``serial`` names it below /dev/disk/by-id.

    It is blank, or begins with what ``prepared`` holds.
    """

    bus: Bus
    serial: str
    size_mib: int = 512
    prepared: Path | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Machine:
    """What is given to a machine before its first boot.

    ``look`` are the paths that are looked at; the rest of the machine's files is not handed over.
    """

    devices: Sequence[BlockDevice]
    look: Sequence[str] = ()
    files: Mapping[str, File] = dataclasses.field(default_factory=dict)
    boots: int = 2


def cloud_init(user_data: bytes, machine: Machine, *, timeout: float = 600.0) -> list[dict[str, Any]]:
    """Boots with user data; gives the notes of ``qemu_guest/observe.py`` for each boot.

    Raises:
        EngineMissing: the image was not built.
        EngineTimeout: the machine did not come to its end in ``timeout`` seconds, all boots together.
        EngineBroken: it ended without notes.
    """
    meta = json.dumps({"instance-id": "i-engine", "local-hostname": "node1"}).encode()
    seed = {
        "/etc/cloud/cloud.cfg.d/99_engine_harness.cfg": File(_CLOUD_SETTINGS),
        f"{_SEED}/user-data": File(user_data, 0o600),
        f"{_SEED}/meta-data": File(meta),
    }
    return _run(seed, machine, timeout=timeout)


def ignition(config: bytes, machine: Machine, *, timeout: float = 600.0) -> list[dict[str, Any]]:
    """Lets Ignition run all of its stages, disks included, then boots; arguments and errors as in ``cloud_init``.

    Raises:
        EngineBroken: a stage failed, too.
    """
    seed = {
        "/etc/cloud/cloud-init.disabled": File(),
        f"{_STATE}/config.ign": File(config, 0o600),
        f"{_STATE}/guest/ignition.sh": File((_GUEST / "ignition.sh").read_bytes()),
        f"{_STATE}/guest/presets.py": File(Path(presets.__file__).read_bytes()),
        f"{_UNITS}/engine-ignition.service": File((_GUEST / "engine-ignition.service").read_bytes()),
    }
    return _run(seed, machine, timeout=timeout)


def _run(seed: Mapping[str, File], machine: Machine, *, timeout: float) -> list[dict[str, Any]]:
    image = qemu_image.require()
    with sandbox.scratch_folder() as scratch, cache.in_use(image.name):
        _write_seed(scratch / "seed", {**machine.files, **seed}, machine)
        _blank(scratch / "result", _RESULT_MIB)
        for number, device in enumerate(machine.devices):
            if device.prepared is not None:
                shutil.copyfile(device.prepared, scratch / f"device-{number}")
            _blank(scratch / f"device-{number}", device.size_mib)
        console = _boot(_command(image, scratch, machine.devices), scratch, timeout=timeout)
        notes = _notes(scratch / "result", console)
    for line in notes.get("stages", "").splitlines():
        stage, status = line.split()
        if status != "0":
            raise EngineBroken(f"Ignition's stage {stage} ended with {status}: {notes[f'{stage}.log'][-1500:]}")
    return [json.loads(notes[f"boot-{number}.json"]) for number in range(1, machine.boots + 1)]


def _write_seed(path: Path, files: Mapping[str, File], machine: Machine) -> None:
    order = {"look": list(machine.look), "boots": machine.boots}
    guest = {name: File((_GUEST / name).read_bytes()) for name in ("engine-observe.service", "engine-observe.timer")}
    given = {
        **files,
        **{f"{_UNITS}/{name}": item for name, item in guest.items()},
        f"{_STATE}/order.json": File(json.dumps(order).encode()),
        f"{_STATE}/guest/observe.py": File((_GUEST / "observe.py").read_bytes()),
        "/etc/systemd/system.conf.d/engine.conf": File(_PATIENCE),
        "/etc/machine-id": File(_MACHINE_ID, 0o444),
    }
    with tarfile.open(path, "w") as archive:
        for name, item in given.items():
            about = tarfile.TarInfo(name.lstrip("/"))
            content = item.host.read_bytes() if item.host else item.content
            about.size, about.mode = len(content), item.mode
            archive.addfile(about, io.BytesIO(content))
        link = tarfile.TarInfo(f"{_UNITS}/multi-user.target.wants/engine-observe.timer".lstrip("/"))
        link.type, link.linkname = tarfile.SYMTYPE, "../engine-observe.timer"
        archive.addfile(link)


def _blank(path: Path, size_mib: int) -> None:
    """Makes a file that long; what is in it stays."""
    with path.open("ab") as handle:
        handle.truncate(size_mib << 20)


def _command(image: Path, scratch: Path, devices: Sequence[BlockDevice]) -> list[str]:
    words = ["console=ttyS0", "net.ifnames=0", "quiet", "apparmor=0"]
    words += [f"systemd.mask={unit}" for unit in _MASKED]
    command = [
        qemu_image.EMULATOR, "-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio",
        "-accel", "tcg", "-cpu", _PROCESSOR, "-smp", "1", "-m", "1024", "-nic", "none",
        "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
        "-kernel", str(image / "kernel"), "-initrd", str(image / "initramfs"), "-append", " ".join(words),
        "-device", "virtio-scsi-pci", "-device", "virtio-rng-pci",
    ]  # fmt: skip
    command += _drive("root", image / "disk", "virtio-blk-pci", options="snapshot=on")
    models = {Bus.VIRTIO: "virtio-blk-pci", Bus.NVME: "nvme", Bus.SCSI: "scsi-hd"}
    for number, device in enumerate(devices):
        name = f"device-{number}"
        command += _drive(name, scratch / name, models[device.bus], serial=device.serial)
    # The last ones, so that the names of the others do not depend on them.
    command += _drive("seed", scratch / "seed", "virtio-blk-pci", serial="engine-seed", options="readonly=on")
    return command + _drive("result", scratch / "result", "virtio-blk-pci", serial="engine-result")


def _drive(name: str, file: Path, model: str, *, serial: str = "engine-root", options: str = "") -> list[str]:
    if not file.is_file():
        raise EngineBroken(f"{file.name} is no file: no device of this machine goes into another one")
    drive = f"if=none,id={name},file={file},format=raw,cache=unsafe"
    return ["-drive", f"{drive},{options}" if options else drive, "-device", f"{model},drive={name},serial={serial}"]


def _boot(command: Sequence[str], scratch: Path, *, timeout: float) -> str:
    console = scratch / "console"
    # The kernel kills the machine when this process dies, however it dies; snapshots go to the scratch folder.
    with console.open("wb") as console_file, subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "--", *command],
        stdin=subprocess.DEVNULL, stdout=console_file, stderr=subprocess.STDOUT, start_new_session=True,
        env={**sandbox.ENVIRONMENT, "TMPDIR": str(scratch)},
    ) as process:  # fmt: skip
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise EngineTimeout(f"the machine was killed after {timeout:.0f} s: {_tail(console)}") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return _tail(console)


def _tail(console: Path) -> str:
    return console.read_bytes()[-_CONSOLE_KEPT:].decode(errors="replace")


def _notes(result: Path, console: str) -> dict[str, str]:
    try:
        with tarfile.open(result) as archive:
            held = {member.name: archive.extractfile(member) for member in archive.getmembers()}
            notes = {name: file.read().decode() for name, file in held.items() if file}
    except tarfile.TarError:
        notes = {}
    if not notes:
        raise EngineBroken(f"the machine left no notes: {console}")
    return notes
