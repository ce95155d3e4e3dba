"""First steps of a pod, in namespaces of its own: network, root, rights, and then the container's command.

Run as root with the standard library only; the order is a JSON file, named as the only argument. The process id stays
the same to the end, so that signals reach the command.
"""

# Plain os functions: after chroot nothing may be imported late, as pathlib does.
# ruff: noqa: PTH103, PTH112, PTH114, PTH115, PTH123, PTH211

import json
import os
import subprocess
import sys

_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64")
_DEVICES = ("null", "zero", "full", "random", "urandom")


def main() -> None:
    """Become the container."""
    with open(sys.argv[1], encoding="utf-8") as file:
        order = json.load(file)
    _join(order["network"])
    root = order["root"]
    os.makedirs(root, exist_ok=True)
    _run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", root)
    _system(root)
    for path, (source, read_only) in sorted(order["binds"].items()):
        _bind(source, root + path, read_only=read_only)
    os.makedirs(f"{root}/etc", exist_ok=True)
    for name, content in order["files"].items():
        with open(f"{root}/etc/{name}", "w", encoding="utf-8") as file:
            file.write(content)
    if order["read_only"]:
        _run("mount", "-o", "remount,bind,ro", root)
    os.chroot(root)
    os.chdir("/")
    rights = ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--pdeathsig=KILL"]
    who = [f"--reuid={order['user']}", f"--regid={order['group']}", f"--groups={order['groups']}"]
    os.execve("/usr/bin/setpriv", ["setpriv", *who, *rights, "--", *order["command"]], order["environment"])


def _join(network: dict[str, object]) -> None:
    """Put a cable from here to the bridge in the network's namespace."""
    bridge = ("nsenter", f"--net={network['namespace']}", "ip", "link")
    port = f"pod{os.getpid()}"
    _run(*bridge, "add", port, "type", "veth", "peer", "name", "eth0", "netns", str(os.getpid()))
    _run(*bridge, "set", port, "master", "br0", "up")
    _run("ip", "link", "set", "lo", "up")
    # Others know where it is by this, also after it has been started again.
    _run("ip", "link", "set", "eth0", "address", str(network["hardware"]), "up")
    for address, gateway in network["addresses"]:  # type: ignore[attr-defined]
        options = ("nodad",) if ":" in address else ()
        _run("ip", "address", "add", address, "dev", "eth0", *options)
        _run("ip", "route", "add", "default", "via", gateway)


def _system(root: str) -> None:
    _bind("/usr", f"{root}/usr", read_only=True)
    for name in _SYSTEM:
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), f"{root}/{name}")
        elif os.path.isdir(f"/{name}"):
            _bind(f"/{name}", f"{root}/{name}", read_only=True)
    os.makedirs(f"{root}/proc")
    _run("mount", "-t", "proc", "-o", "ro,nosuid,nodev,noexec", "proc", f"{root}/proc")
    os.makedirs(f"{root}/dev")
    for name in _DEVICES:
        with open(f"{root}/dev/{name}", "wb"):
            pass
        _run("mount", "--bind", f"/dev/{name}", f"{root}/dev/{name}")


def _bind(source: str, target: str, *, read_only: bool) -> None:
    os.makedirs(target, exist_ok=True)
    _run("mount", "--bind", source, target)
    if read_only:
        _run("mount", "-o", "remount,bind,ro", target)


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
