"""The disk of a machine that boots in qemu: a kernel, an initramfs and a root with both first-boot systems.

Made from a root file system without a single mount: mkfs.ext4 fills the image from a folder, debugfs adds the one
program that the harness needs in it. It is never written to again: each machine sees it through a snapshot.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from tools.oracles import cache, qemu_initramfs, roots
from tools.oracles.failures import EngineBroken, EngineMissing

NAME = "machine-image"
EMULATOR = "qemu-system-x86_64"
INIT = "/usr/sbin/engine-init"
_HOST_PACKAGES = ("busybox-static", "e2fsprogs", "qemu-system-x86")
_SHELL = Path("/bin/busybox")
_SIZE = "3G"  # Sparse; what the root does not fill costs nothing.
_GUEST = Path(__file__).with_name("qemu_guest")


def path() -> Path:
    """Where the folder with ``disk``, ``kernel`` and ``initramfs`` is, or will be; its name changes with its recipe."""
    recipe = f"{roots.ROOTS['machine'].path.name} {_SIZE}".encode()
    recipe += b"".join((_GUEST / name).read_bytes() for name in ("init.sh", "initramfs.sh"))
    return cache.directory() / "images" / f"machine-{hashlib.sha256(recipe).hexdigest()[:12]}"


def require() -> Path:
    """The folder.

    Raises:
        EngineMissing: the image was not built yet, or qemu is not installed.
    """
    if not path().is_dir():
        raise EngineMissing(NAME)
    if shutil.which(EMULATOR) is None:
        raise EngineMissing(NAME, "no qemu on this machine")
    return path()


def build() -> Path:
    """Makes the image unless it is there; half a minute beyond its root."""
    root = roots.build(roots.ROOTS["machine"])
    roots.install_packages(_HOST_PACKAGES)
    with cache.locked(NAME):
        if path().is_dir():
            return path()
        with cache.being_built(path()) as beside:
            disk = beside / "disk"
            _do("mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-d", root, disk, _SIZE)
            _add_program(_GUEST / "init.sh", disk)
            (kernel,) = (root / "boot").glob("vmlinuz-*")
            shutil.copyfile(kernel, beside / "kernel")
            script = (_GUEST / "initramfs.sh").read_bytes()
            (beside / "initramfs").write_bytes(qemu_initramfs.archive(root, script=script, shell=_SHELL))
        for old in {*path().parent.glob("machine-????????????")} - {path()}:
            with cache.unused(old.name) as nobody_runs_on_it:
                if nobody_runs_on_it:
                    cache.discard(old)
    return path()


def _add_program(program: Path, disk: Path) -> None:
    folder, name = INIT.rsplit("/", 1)
    orders = f"cd {folder}\nwrite {program} {name}\nset_inode_field {name} mode 0100755\n"
    _do("debugfs", "-w", "-f", "-", disk, given=orders)
    # debugfs ends with 0 whatever it could not do.
    if "0755" not in _do("debugfs", "-R", f"stat {INIT}", disk):
        raise EngineBroken(f"debugfs has not put {INIT} on the image")


def _do(*command: str | Path, given: str = "") -> str:
    done = subprocess.run(["nice", *command], check=False, capture_output=True, text=True, input=given)
    if done.returncode:
        raise EngineBroken(f"{command[0]}: {done.stderr[-1000:]}")
    return done.stdout
