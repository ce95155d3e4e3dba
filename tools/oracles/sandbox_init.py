"""First process of a sandboxed machine: makes the machine out of a read-only root, then runs commands on it.

Run by ``sandbox.py`` as PID 1 of fresh namespaces, with the standard library only; its order arrives as JSON
on standard input. The safety rules are kept in two layers. This process, still root of the host, mounts what
the machine may see (an overlay, its own /proc with the dangerous parts read-only, a read-only /sys, a /dev of
six harmless nodes) and drops the host's tree by pivot_root. The commands then run one user namespace further
in: there the mounts above cannot be undone, and nothing that is not of a namespace (swap, clock, modules,
devices, reboot) can be touched, whatever a document under test asks for.
"""

# Plain os functions: between pivot_root and exec nothing may be imported late, as pathlib does.
# ruff: noqa: PTH101, PTH102, PTH103, PTH110, PTH120, PTH123, PTH211

import base64
import ctypes
import fcntl
import importlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import tty
from collections.abc import Callable
from typing import Any

_LIBC = ctypes.CDLL(None, use_errno=True)
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT, _MS_BIND, _MS_REC = 1, 2, 4, 8, 32, 4096, 16384
_NEW = {
    "mount": 0x20000,
    "cgroup": 0x2000000,
    "uts": 0x4000000,
    "ipc": 0x8000000,
    "user": 0x10000000,
    "net": 0x40000000,
}
# sys_module, sys_rawio, sys_boot, sys_time, mknod, syslog, wake_alarm: never, not even inside the user
# namespace.
_DROPPED_CAPABILITIES = (16, 17, 22, 25, 27, 34, 35)
_CHARACTER_DEVICES = {
    "null": (1, 3),
    "zero": (1, 5),
    "full": (1, 7),
    "random": (1, 8),
    "urandom": (1, 9),
    "tty": (5, 0),
}
_PROC_READ_ONLY = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi")
_OPEN_TREE, _MOVE_MOUNT, _AT_FDCWD = 428, 429, -100  # The first two have these numbers on all architectures.
_OPEN_TREE_CLONE, _MOVE_MOUNT_EMPTY_PATH = 1, 4
_END_OF_CONSOLE = b"\0end of the engine's console\0"
_CONSOLE_PATIENCE = 5.0
_OUTPUT_LIMIT = 1 << 20
_ACCOUNT_MAP = "0 0 4294967295"


def main() -> None:
    """Makes the machine, runs the commands, writes their outcomes to the scratch folder."""
    order: dict[str, Any] = json.load(sys.stdin)
    result = os.open(f"{order['scratch']}/outcomes.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    console = os.open(f"{order['scratch']}/console", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    root = f"{order['scratch']}/merged"
    _mount_machine(root, order)
    terminal, line = _make_devices(root)
    if order["initramfs"]:
        _mount_sysroot(root, order)
    copying = threading.Thread(target=_copy_console, args=(terminal, console), daemon=True)
    copying.start()
    programs = {path: _clone_mount(host) for path, host in order["mounts"].items()}
    network = _prepare_network(order["network"])
    shared = os.open(f"/proc/{order['neighbour']}/ns/net", os.O_RDONLY | os.O_CLOEXEC) if order["neighbour"] else -1
    _leave_host(root)
    for item in order["files"]:
        _put(item)
    for path, program in programs.items():
        _mount_program(program, path)
    outcomes = _in_user_namespace(order, network, shared)
    os.write(line, _END_OF_CONSOLE)
    copying.join(_CONSOLE_PATIENCE)
    os.write(result, json.dumps(outcomes).encode())
    os.close(result)


def _mount(source: str, target: str, kind: str = "", *, flags: int = 0, data: str = "") -> None:
    failed = _LIBC.mount(
        source.encode(), target.encode(), kind.encode() or None, ctypes.c_ulong(flags), data.encode() or None
    )
    if failed:
        raise OSError(ctypes.get_errno(), f"mount {kind or 'bind'} on {target}")


def _mount_overlay(lower: str, layers: str, target: str) -> None:
    folders = f"lowerdir={lower},upperdir={layers}/upper,workdir={layers}/work"
    options = f"{folders},metacopy=off,redirect_dir=off,index=off"
    _mount("overlay", target, "overlay", flags=_MS_NODEV, data=options)


def _mount_machine(root: str, order: dict[str, Any]) -> None:
    scratch = order["scratch"]
    if order["initramfs"]:
        _mount_overlay(order["initramfs"], f"{scratch}/initramfs", root)
    else:
        _mount_overlay(order["lower"], scratch, root)
    _mount("proc", f"{root}/proc", "proc", flags=_MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    for name in _PROC_READ_ONLY:
        path = f"{root}/proc/{name}"
        if os.path.exists(path):
            _mount(path, path, flags=_MS_BIND | _MS_REC)
            _mount("", path, flags=_MS_BIND | _MS_REMOUNT | _MS_RDONLY | _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    _mount("sysfs", f"{root}/sys", "sysfs", flags=_MS_RDONLY | _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    _mount(f"{scratch}/run", f"{root}/run", flags=_MS_BIND)
    _mount("", f"{root}/run", flags=_MS_BIND | _MS_REMOUNT | _MS_NOSUID | _MS_NODEV)


def _mount_sysroot(root: str, order: dict[str, Any]) -> None:
    """Puts the machine's disk below /sysroot, with the kernel's file systems as dracut binds them into it."""
    sysroot = f"{root}/sysroot"
    os.makedirs(sysroot, exist_ok=True)
    _mount_overlay(order["lower"], order["scratch"], sysroot)
    for name in ("proc", "sys", "dev", "run"):
        _mount(f"{root}/{name}", f"{sysroot}/{name}", flags=_MS_BIND | _MS_REC)


def _make_devices(root: str) -> tuple[int, int]:
    """Fills /dev; gives both sides of the pseudo terminal that is the machine's console, the master's first."""
    device = f"{root}/dev"
    _mount("tmpfs", device, "tmpfs", flags=_MS_NOSUID, data="mode=755,size=16m")
    os.umask(0)
    for name, (major, minor) in _CHARACTER_DEVICES.items():
        os.mknod(f"{device}/{name}", 0o020666, os.makedev(major, minor))
    os.mkdir(f"{device}/shm", 0o1777)
    os.mkdir(f"{device}/pts", 0o755)
    _mount(
        "devpts",
        f"{device}/pts",
        "devpts",
        flags=_MS_NOSUID | _MS_NOEXEC,
        data="newinstance,ptmxmode=666,mode=620,gid=5",
    )
    for name, target in (
        ("ptmx", "pts/ptmx"),
        ("fd", "/proc/self/fd"),
        ("stdin", "fd/0"),
        ("stdout", "fd/1"),
        ("stderr", "fd/2"),
    ):
        os.symlink(target, f"{device}/{name}")
    master = os.open(f"{device}/pts/ptmx", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    fcntl.ioctl(master, 0x40045431, struct.pack("i", 0))  # TIOCSPTLCK: unlock the other side
    number = struct.unpack("I", fcntl.ioctl(master, 0x80045430, struct.pack("I", 0)))[0]  # TIOCGPTN
    slave = f"{device}/pts/{number}"
    line = os.open(slave, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)  # Else the console hangs up after its first user.
    tty.setraw(line)
    for name in ("console", "ttyS0", "ttyAMA0"):
        os.close(os.open(f"{device}/{name}", os.O_WRONLY | os.O_CREAT, 0o600))
        _mount(slave, f"{device}/{name}", flags=_MS_BIND)
    os.umask(0o022)
    return master, line


def _copy_console(terminal: int, console: int) -> None:
    """Copies up to the end mark, which this process writes when all commands are done."""
    pending = b""
    while True:
        pending += os.read(terminal, 65536)
        before, mark, _ = pending.partition(_END_OF_CONSOLE)
        held = 0 if mark else len(_END_OF_CONSOLE) - 1  # The mark may come in two pieces.
        ready = before[: len(before) - held] if held else before
        os.write(console, ready)
        if mark:
            return
        pending = before[len(ready) :]


def _leave_host(root: str) -> None:
    """Makes the machine's tree the only one there is."""
    os.chdir(root)
    number = {"x86_64": 155, "aarch64": 41}[os.uname().machine]
    if _LIBC.syscall(number, b".", b"."):
        raise OSError(ctypes.get_errno(), "pivot_root")
    if _LIBC.umount2(b".", 2):
        raise OSError(ctypes.get_errno(), "umount of the host's tree")
    os.chdir("/")


def _put(item: dict[str, Any]) -> None:
    path = item["path"]
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    with open(path, "wb") as handle:
        handle.write(base64.b64decode(item["content"]))
    os.chmod(path, item["mode"])


def _clone_mount(host: str) -> int:
    """A mount of one file of the host that is nowhere in the tree yet, as the descriptor of it."""
    flags = _OPEN_TREE_CLONE | os.O_CLOEXEC
    program: int = _LIBC.syscall(_OPEN_TREE, _AT_FDCWD, host.encode(), flags)
    if program < 0:
        raise OSError(ctypes.get_errno(), f"open_tree of {host}")
    return program


def _mount_program(program: int, path: str) -> None:
    """Puts such a mount over the stub at ``path``, read-only."""
    if _LIBC.syscall(_MOVE_MOUNT, program, b"", _AT_FDCWD, path.encode(), _MOVE_MOUNT_EMPTY_PATH):
        raise OSError(ctypes.get_errno(), f"mount of a program on {path}")
    os.close(program)
    _mount("", path, flags=_MS_BIND | _MS_REMOUNT | _MS_RDONLY | _MS_NODEV)


def _prepare_network(sites: list[dict[str, Any]]) -> Callable[[], None]:
    """What starts the machine's servers; they must be loaded before the host's tree is gone."""
    if not sites:
        return lambda: None
    sys.path.insert(0, os.path.dirname(__file__))
    server = importlib.import_module("network_server")
    contexts = server.contexts(sites)

    def start() -> None:
        listeners = server.listen(sites, contexts)
        if not os.fork():
            try:
                server.serve(listeners)
            finally:
                os._exit(1)
        for listener, *_ in listeners:
            listener.close()

    return start


def _in_user_namespace(order: dict[str, Any], start_network: Callable[[], None], shared: int) -> list[dict[str, Any]]:
    """Runs the commands in a child whose namespaces are owned by a user namespace; gives their outcomes."""
    to_parent, from_child = socket.socketpair()
    answer = os.memfd_create("outcomes", 0)
    child = os.fork()
    if not child:
        status = 1
        try:
            _enter(from_child, order["hostname"], shared)
            start_network()
            os.write(answer, json.dumps([_run(command) for command in order["commands"]]).encode())
            status = 0
        finally:
            os._exit(status)
    from_child.close()
    if not to_parent.recv(1):
        raise SystemExit("the sandbox's child did not reach its namespaces")
    for kind in ("uid_map", "gid_map"):
        with open(f"/proc/{child}/{kind}", "w") as handle:
            handle.write(_ACCOUNT_MAP)
    to_parent.send(b".")
    while True:
        ended, status = os.wait()  # PID 1 reaps whatever is orphaned, too.
        if ended == child:
            break
    if status:
        raise SystemExit(f"the sandbox's child ended with {status}")
    outcomes: list[dict[str, Any]] = json.loads(os.pread(answer, os.fstat(answer).st_size, 0))
    return outcomes


def _enter(pipe: socket.socket, hostname: str, shared: int) -> None:
    """Enters namespaces of its own; with ``shared`` the network is the one of that descriptor."""
    new = dict(_NEW)
    if shared >= 0 and _LIBC.setns(shared, new.pop("net")):
        raise OSError(ctypes.get_errno(), "setns")
    if _LIBC.unshare(sum(new.values())):
        raise OSError(ctypes.get_errno(), "unshare")
    pipe.send(b".")
    pipe.recv(1)
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    os.setgroups([])
    socket.sethostname(hostname)
    if shared < 0:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            # Bring up the loopback: IFF_UP with SIOCSIFFLAGS.
            fcntl.ioctl(control, 0x8914, struct.pack("16sh14x", b"lo", 1))
    for capability in _DROPPED_CAPABILITIES:
        if _LIBC.prctl(24, capability, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")


def _run(command: dict[str, Any]) -> dict[str, Any]:
    output = os.memfd_create("output", 0)
    start = time.monotonic()
    given = base64.b64decode(command["stdin"])
    feed = os.memfd_create("stdin", 0)
    os.write(feed, given)
    os.lseek(feed, 0, os.SEEK_SET)
    try:
        process = subprocess.Popen(
            command["argv"], stdin=feed, stdout=output, stderr=output, env=command["environment"],
            cwd="/", start_new_session=True, close_fds=True,
        )  # fmt: skip
    except OSError as error:
        return {
            "status": 127,
            "output": base64.b64encode(str(error).encode()).decode(),
            "seconds": 0.0,
            "timed_out": False,
        }
    timed_out = False
    try:
        status = process.wait(command["timeout"])
    except subprocess.TimeoutExpired:
        timed_out = True
        os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
    size = os.fstat(output).st_size
    tail = os.pread(output, _OUTPUT_LIMIT, max(0, size - _OUTPUT_LIMIT))
    for handle in (output, feed):
        os.close(handle)
    return {
        "status": status, "output": base64.b64encode(tail).decode(),
        "seconds": round(time.monotonic() - start, 3), "timed_out": timed_out,
    }  # fmt: skip


if __name__ == "__main__":
    main()
