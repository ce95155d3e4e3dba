"""The inside of a domain controller's namespaces: mounts, network, the programs of Samba; see ``directory.py``.

It runs by itself, isolated, as the first process there, and reads its order from standard input: one line of JSON. In
``provision`` it makes the domain and ends; in ``serve`` it prints ``ready`` when every port answers, and ends with its
standard input.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_DEVICES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
_PORTS = (53, 88, 389, 445, 464, 636)
_SECONDS = 60.0
_BETWEEN = 0.1
_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}


def main() -> int:
    """Does what the order says; the status of the program that failed, or 0."""
    order = json.loads(sys.stdin.readline())
    root = Path(order["scratch"]) / "merged"
    _mount(order, root)
    _network(order["address"])
    return _provision(order, root) if order["task"] == "provision" else _serve(order, root)


def _mount(order: dict[str, Any], root: Path) -> None:
    scratch = Path(order["scratch"])
    layers = f"lowerdir={':'.join(order['lowers'])},upperdir={scratch}/upper,workdir={scratch}/work"
    _run("mount", "-t", "overlay", "overlay", "-o", layers, root)
    _run("mount", "-t", "proc", "proc", root / "proc")
    _run("mount", "-t", "tmpfs", "tmpfs", root / "run")
    _run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", root / "dev")
    for name, (major, minor) in _DEVICES.items():
        _run("mknod", "-m", "666", root / "dev" / name, "c", major, minor)
    for name in ("pts", "shm"):
        (root / "dev" / name).mkdir()
    hosts = scratch / "hosts"
    hosts.write_text(f"127.0.0.1 localhost\n{order['address']} {order['host']} {order['host'].split('.')[0]}\n")
    resolver = scratch / "resolv.conf"
    resolver.write_text(f"nameserver {order['address']}\n")
    for file, name in ((hosts, "hosts"), (resolver, "resolv.conf")):
        (root / "etc" / name).touch()
        _run("mount", "--bind", file, root / "etc" / name)
        # The programs of this machine that enter these namespaces see the same network by the same names.
        _run("mount", "--bind", file, Path("/etc") / name)
    shared = scratch / "shared"
    inside = root / shared.relative_to("/")
    inside.mkdir(parents=True, exist_ok=True)
    _run("mount", "--bind", shared, inside)


def _network(address: str) -> None:
    _run("ip", "link", "set", "lo", "up")
    _run("ip", "link", "add", "lan0", "type", "veth", "peer", "name", "lan1")
    _run("ip", "link", "set", "lan1", "up")
    _run("ip", "address", "add", f"{address}/24", "dev", "lan0")
    _run("ip", "link", "set", "lan0", "up")


def _provision(order: dict[str, Any], root: Path) -> int:
    (root / "etc/samba/smb.conf").unlink(missing_ok=True)
    command = [
        "samba-tool", "domain", "provision", f"--realm={order['realm']}", f"--domain={order['workgroup']}",
        "--server-role=dc", "--dns-backend=SAMBA_INTERNAL", f"--adminpass={order['password']}",
        f"--host-name={order['host'].split('.')[0]}", f"--host-ip={order['address']}",
        "--option=interfaces=lo lan0", "--option=bind interfaces only=yes",
    ]  # fmt: skip
    done = subprocess.run(["chroot", root, *command], check=False, env=_ENVIRONMENT, stdout=sys.stderr)
    if done.returncode == 0:
        krb5 = (root / "var/lib/samba/private/krb5.conf").read_bytes()
        (root / "etc/krb5.conf").write_bytes(krb5)
    return done.returncode


def _serve(order: dict[str, Any], root: Path) -> int:
    command = ["chroot", str(root), "samba", "--interactive", "--debug-stdout", "--no-process-group"]
    log = (Path(order["scratch"]) / "samba.log").open("wb")
    with subprocess.Popen(command, env=_ENVIRONMENT, stdin=subprocess.PIPE, stdout=log, stderr=log) as samba:
        limit = time.monotonic() + _SECONDS
        for port in _PORTS:
            while not _answers(order["address"], port):
                if samba.poll() is not None or time.monotonic() > limit:
                    samba.kill()
                    return 1
                time.sleep(_BETWEEN)
        print("ready", flush=True)
        sys.stdin.read()
        samba.kill()
    return 0


def _answers(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), timeout=1.0).close()
    except OSError:
        return False
    return True


def _run(*command: object) -> None:
    subprocess.run([str(part) for part in command], check=True, stdout=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
