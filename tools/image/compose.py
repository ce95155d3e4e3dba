"""The real `docker compose`, which needs no Docker engine: it speaks to podman as well.

It comes as a Go module, as other programs do whose verdict counts; so the file is read by the very program that people
will read it with.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.image import podman
from tools.oracles import go_programs
from tools.oracles.failures import EngineBroken

FILE = Path(__file__).parents[2] / "docker-compose.yaml"
PROGRAM = go_programs.Program(
    "docker-compose", str(Path(__file__).with_name("compose-go")), package="github.com/docker/compose/v2/cmd"
)
_UP_SECONDS = 90


class Project:
    """One run of the compose file, under a name of its own so that it never touches another."""

    def __init__(self, name: str, *, address: str = "", environment: Mapping[str, str] | None = None) -> None:
        """Name it; `address` is podman's, needed to run anything; `environment` fills the file's variables."""
        self.name = name
        self._address = address
        self._environment = dict(environment or {})

    @property
    def label(self) -> str:
        """The label that all of its containers have."""
        return f"com.docker.compose.project={self.name}"

    def config(self) -> dict[str, Any]:
        """Give the file as it is understood: variables filled in, anchors and short forms resolved.

        Raises:
            EngineBroken: it is not a valid file; the text says why.
        """
        answer: dict[str, Any] = json.loads(self._run("--profile", "*", "config", "--format", "json"))
        return answer

    def up(self, *, profile: str = "") -> None:
        """Start what runs by itself, or all services of a profile too, and wait until it is healthy.

        Raises:
            EngineBroken: something did not become healthy.
        """
        with podman.health_checks(self.label):
            chosen = ["--profile", profile] if profile else []
            self._run(*chosen, "up", "--detach", "--no-build", "--wait", "--wait-timeout", str(_UP_SECONDS))

    def renew(self) -> None:
        """Let the setup make new certificates beside the running services."""
        self._run("run", "--rm", "-T", "certificates")

    def cli(self, *arguments: str, files: Mapping[Path, str] | None = None) -> str:
        """Run the command line in a container of its own, with files of this machine; give what it printed.

        Raises:
            EngineBroken: it did not end with 0.
        """
        # Not attached: podman may lose the output of what ends as fast as it began.
        name = f"{self.name}-cli"
        mounts = [f"--volume={path}:{place}:ro" for path, place in (files or {}).items()]
        self._run("run", "--detach", "--name", name, *mounts, "cli", *arguments)
        try:
            podman.podman("wait", name)
            code = podman.podman("inspect", "--format", "{{.State.ExitCode}}", name).strip()
            printed = podman.podman("logs", name)
            if code != "0":
                log = podman.podman("logs", name, with_errors=True)
                raise EngineBroken(f"slipway {arguments[0]} ended with {code}: {log[-2000:]}")
        finally:
            podman.podman("rm", "--force", name)
        return printed

    def fill(self, volume: str, folder: Path) -> None:
        """Copy a folder of this machine into a volume, as root in a container of its own.

        A new volume belongs to root with Docker, and to the user of the first container with podman.
        """
        name = f"{self.name}-fill"
        mounts = (f"--volume={folder}:/release:ro", f"--volume={self.name}_{volume}:/target")
        copy = ("--entrypoint=cp", "cli", "-r", "/release/.", "/target/")
        self._run("run", "--detach", "--name", name, "--user=0", "--cap-add=DAC_OVERRIDE", *mounts, *copy)
        try:
            code = podman.podman("wait", name).strip()
            if code != "0":
                log = podman.podman("logs", name, with_errors=True)
                raise EngineBroken(f"cp ended with {code}: {log[-2000:]}")
        finally:
            podman.podman("rm", "--force", name)

    def stop(self) -> None:
        """Ask everything to end, and give it its time."""
        self._run("--profile", "*", "stop")

    def down(self) -> None:
        """Take away everything that was made: containers, networks and volumes."""
        self._run("--profile", "*", "down", "--volumes", "--timeout", "1")

    def container(self, service: str) -> str:
        """Give the name of a service's container."""
        return f"{self.name}-{service}-1"

    def _run(self, *arguments: str) -> str:
        with tempfile.TemporaryDirectory() as settings:
            done = subprocess.run(
                [str(PROGRAM.require()), "--ansi=never", "--project-name", self.name, "--file", str(FILE), *arguments],
                env={**os.environ, "DOCKER_HOST": self._address, "DOCKER_CONFIG": settings, **self._environment},
                stdin=subprocess.DEVNULL, check=False, capture_output=True, timeout=_UP_SECONDS * 2,
            )  # fmt: skip
        if done.returncode:
            raise EngineBroken(f"docker compose {arguments[0]}: {done.stderr.decode(errors='replace')[-2000:]}")
        return done.stdout.decode()
