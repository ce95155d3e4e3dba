"""Runs one machine within a site: ``python -m tools.node.machine_init``, its order as JSON on standard input.

The disk is an overlay over the root. Each boot has a new network namespace, as the interfaces of a machine do not
outlive it; systemd-nspawn says by its status that the machine wants to boot again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tools.node import addresses, cgroups, ending
from tools.node.site_init import NAMES

WANTS_REBOOT = 133
_KILLED = 128  # and the number of the signal, as a shell says it
DATA = ("containerd", "kubelet", "etcd")
"""Folders of /var/lib that lie on a real file system: layers of containers do not go onto an overlay."""


@dataclasses.dataclass(frozen=True, slots=True)
class Order:
    """What machine to run; ``disk_size`` in bytes limits the disk, which is in memory then."""

    name: str
    group: str
    number: int
    lower: str
    folder: str
    images: str
    binds: dict[str, str]
    disk_size: int = 0


def main() -> int:
    """Runs the machine until it powers off; the status of systemd-nspawn. How each boot ended is a line on stderr."""
    order = Order(**json.load(sys.stdin))
    cgroups.enter(order.group)
    folder = Path(order.folder)
    if order.disk_size:
        _mount_small_disk(folder, order.disk_size)
    layers = f"lowerdir={order.lower},upperdir={folder}/disk/upper,workdir={folder}/disk/work"
    _run("mount", "-t", "overlay", "overlay", "-o", layers, folder / "merged")
    try:
        while True:
            with _network(order):
                begun = time.monotonic()
                status = _boot(order)
            _say(f"systemd-nspawn ended with {status} after {time.monotonic() - begun:.1f} s")
            if status != WANTS_REBOOT:
                return status if status >= 0 else _KILLED - status
    finally:
        _run("umount", folder / "merged")


def _mount_small_disk(folder: Path, size: int) -> None:
    disk = folder / "disk"
    with (folder / "before").open("w") as listing:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", folder / "small"], check=True)
        subprocess.run(["cp", "-a", f"{disk}/.", folder / "small"], check=True, stdout=listing)
        subprocess.run(["mount", "--move", folder / "small", disk], check=True)


def _boot(order: Order) -> int:
    """One boot; systemd 256 and newer want to be told that groups of the first version will do."""
    folder = Path(order.folder)
    with (folder / "boots").open("a", encoding="ascii") as boots:
        boots.write(".")
    command: list[str | Path] = [
        "systemd-nspawn", "--quiet", "--directory", folder / "merged", "--machine", order.name,
        "--register=no", "--keep-unit", "--resolv-conf=off", "--link-journal=no", "--timezone=off",
        f"--network-namespace-path={NAMES}/{order.name}", "--capability=CAP_NET_ADMIN",
        "--system-call-filter=@keyring", "--console=read-only",
        *(f"--bind={folder}/data/{name}:/var/lib/{name}" for name in DATA),
        *(f"--bind-ro={host}:{path}" for path, host in order.binds.items()), f"--bind-ro={order.images}:/images.tar",
        "--boot", "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1", "systemd.unified_cgroup_hierarchy=0",
    ]  # fmt: skip
    with (folder / ending.CONSOLE).open("ab") as console:
        return subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=console, stderr=console).returncode


@contextlib.contextmanager
def _network(order: Order) -> Iterator[None]:
    name, port = order.name, f"port{order.number}"
    _run("ip", "netns", "add", name)
    try:
        _run("ip", "link", "add", "eth0", "netns", name, "type", "veth", "peer", "name", port)
        _run("ip", "link", "set", port, "master", "br0", "up")
        others = (other for other in range(1, addresses.LARGEST_NUMBER + 1) if other != order.number)
        orders = [
            "link set lo up",
            f"address add {addresses.machine(order.number)}/{addresses.PREFIX_LENGTH} dev eth0",
            "link set eth0 up",
            f"route add default via {addresses.GATEWAY}",
            *(f"route add {addresses.pods(other)} via {addresses.machine(other)}" for other in others),
        ]
        subprocess.run(["ip", "-n", name, "-batch", "-"], input="\n".join(orders), text=True, check=True)
        yield
    finally:
        _run("ip", "netns", "delete", name)
        subprocess.run(["ip", "link", "delete", port], check=False, stderr=subprocess.DEVNULL)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    sys.exit(main())
