"""Podman on this machine, set up so that it also runs where systemd, cgroup v2 or high limits are missing."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.oracles.failures import EngineBroken, EngineMissing
from tools.oracles.roots import install_packages

PACKAGES = ("podman", "buildah", "runc", "netavark", "aardvark-dns", "catatonit", "iptables", "uidmap")
_SETTINGS = """
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
[engine]
runtime = "runc"
"""
_START_SECONDS = 10.0
_HEALTH_SECONDS = 1.0


def install() -> None:
    """Install what is needed from Debian's packages, unless it is there."""
    install_packages(PACKAGES)


def require() -> None:
    """Return when podman is on this machine.

    Raises:
        EngineMissing: it is not.
    """
    if shutil.which("podman") is None or shutil.which("runc") is None:
        raise EngineMissing("podman", "make image installs it")


def podman(*arguments: str, check: bool = True, with_errors: bool = False) -> str:
    """Run podman and give what it printed; `with_errors` what it wrote to standard error, too.

    Raises:
        EngineBroken: it failed; not with `check` off.
    """
    require()
    with _settings() as environment:
        done = subprocess.run(
            ["podman", *arguments], env=environment, check=False, capture_output=True, text=True, errors="replace"
        )
    if check and done.returncode:
        raise EngineBroken(f"podman {arguments[0]}: {done.stderr[-2000:]}")
    return done.stdout + (done.stderr if with_errors else "")


@contextlib.contextmanager
def api() -> Iterator[str]:
    """Serve podman's Docker-compatible interface on a socket of its own; give its address."""
    require()
    with _settings() as environment, tempfile.TemporaryDirectory(prefix="slipway-podman-") as folder:
        socket = Path(folder) / "podman.sock"
        service = subprocess.Popen(
            ["podman", "system", "service", "--time", "0", f"unix://{socket}"],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            _await(socket, service)
            yield f"unix://{socket}"
        finally:
            service.terminate()
            service.wait()


@contextlib.contextmanager
def health_checks(label: str) -> Iterator[None]:
    """Run the health checks of all containers with a label every second: podman leaves that to systemd's timers."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(_HEALTH_SECONDS):
            for container in containers(label):
                podman("healthcheck", "run", container, check=False)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def containers(label: str, *, ended: bool = False) -> Sequence[str]:
    """Give the ids of the containers with a label that run; with `ended` of those, too, that do not any more."""
    return podman("ps", "-q", "--filter", f"label={label}", *(["-a"] if ended else []), check=False).split()


@contextlib.contextmanager
def _settings() -> Iterator[dict[str, str]]:
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.write(_SETTINGS)
        file.flush()
        yield {**os.environ, "CONTAINERS_CONF": file.name}


def _await(socket: Path, service: "subprocess.Popen[bytes]") -> None:
    pause = threading.Event()
    for _ in range(int(_START_SECONDS / 0.05)):
        if socket.exists():
            return
        if service.poll() is not None:
            break
        pause.wait(0.05)
    raise EngineBroken("podman system service did not start")
