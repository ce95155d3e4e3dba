"""Runs the compose file with the image and tries what it promises, from its first start to its last second."""

import asyncio
import hashlib
import json
import os
import shutil
import ssl
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.request import urlopen

from slipway.cli.processes import LOOPBACK
from slipway.contract.errors import SlipwayError
from slipway.rpc.addresses import free_port
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from tools.image import podman
from tools.image.build import ROOT
from tools.image.compose import Project
from tools.image.doors import Caller, Doors
from tools.image.insides import foreign_lines, look
from tools.image.trust import trials
from tools.oracles.failures import EngineBroken

PROVISIONERS = ("cloud-init", "ignition", "talos", "windows")
ALONE = "slipway"
"""The service that runs without a profile."""

SERVICES = (ALONE, "registry", "bootstrapper", *PROVISIONERS)
GATEWAY = "node-gateway"
_PUBLISHED = (ALONE, "registry", "bootstrapper")
_SERVER = ("--server", "bootstrapper:9443")
_EXAMPLE = ROOT / "examples" / "native.yaml"
_MARKS = {"cloud-init": "#cloud-config", "ignition": '{"ignition"', "talos": "version: v1alpha1"}
_GRACE_SECONDS = 35.0
_BACK_SECONDS = 30.0
_EARLY_SECONDS = 15.0
_TRIES = 3
# Everything in the container but its first process, which only passes signals on, and this program.
_KILL = "import os; [os.kill(int(p), 9) for p in os.listdir('/proc') if p.isdigit() and int(p) not in (1, os.getpid())]"
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class Findings:
    """What was tried and what was found."""

    wrong: list[str] = field(default_factory=list)

    def note(self, what: str, *, well: bool, detail: object = "") -> None:
        """Print one line, and keep it when it went wrong."""
        line = f"{'ok   ' if well else 'WRONG'}  {what}{f': {detail}' if detail != '' else ''}"
        print(line, flush=True)
        if not well:
            self.wrong.append(line)


@contextmanager
def running(name: str, image: str) -> Iterator[tuple[Project, Doors]]:
    """Give a healthy installation, and take everything of it away in the end, whatever happens."""
    alone, registry, bootstrapper, gateway = (free_port() for _ in range(4))
    ports = {
        "SLIPWAY_PORT": str(alone),
        "SLIPWAY_REGISTRY_PORT": str(registry),
        "SLIPWAY_BOOTSTRAPPER_PORT": str(bootstrapper),
        "SLIPWAY_GATEWAY_PORT": str(gateway),
    }
    with podman.api() as address, tempfile.TemporaryDirectory(prefix="slipway-check-") as folder:
        project = Project(name, address=address, environment={"SLIPWAY_IMAGE": image, **ports})
        doors = Doors(
            f"{LOOPBACK}:{registry}", f"{LOOPBACK}:{bootstrapper}", Path(folder), f"https://{LOOPBACK}:{gateway}"
        )
        try:
            project.up()
            yield project, doors
        finally:
            project.down()


def check(image: str) -> Findings:
    """Try everything with an image.

    Raises:
        EngineError: it could not be tried, or did not even start.
    """
    findings = Findings()
    name = f"slipway-check-{os.getpid()}"
    started = time.monotonic()
    with running(name, image) as (project, doors):
        findings.note("the one service is healthy", well=True, detail=f"after {time.monotonic() - started:.1f} s")
        containers = podman.containers(project.label)
        findings.note("no other one runs without the profile", well=len(containers) == 1, detail=len(containers))
        _render(project, findings)
        project.up(profile="gateway")
        findings.note("the node gateway is healthy", well=True)
        _download(project, doors, findings)
        started = time.monotonic()
        project.up(profile="all")
        findings.note("all seven services are healthy", well=True, detail=f"after {time.monotonic() - started:.1f} s")
        _take_certificates(project, doors.certificates)
        _use(project, findings)
        asyncio.run(_trust(doors, findings))
        _look(project, findings)
        project.renew()
        _take_certificates(project, doors.certificates)
        _use(project, findings, after="after new certificates: ")
        asyncio.run(_restart(project, doors, findings))
        _stop(project, findings)
        _stop_early(project.container("talos"), findings)
    remaining = podman.containers(f"com.docker.compose.project={name}", ended=True)
    remaining = [*remaining, *podman.podman("volume", "ls", "-q", "--filter", f"name={name}").split()]
    findings.note("nothing is left of it", well=not remaining, detail=", ".join(remaining))
    return findings


def _use(project: Project, findings: Findings, *, after: str = "") -> None:
    deadline, ready = time.monotonic() + _BACK_SECONDS, dict.fromkeys(PROVISIONERS, "ready")
    # One whose lease was due while the certificates changed is back at its next call.
    while (states := _states(project)) != ready and time.monotonic() < deadline:
        time.sleep(1.0)
    detail = ", ".join(f"{name} {state}" for name, state in sorted(states.items()))
    findings.note(f"{after}all provisioners are registered", well=states == ready, detail=detail)
    _render(project, findings, *_SERVER, after=after)


def _render(project: Project, findings: Findings, *server: str, after: str = "") -> None:
    """Have a machine rendered by each provisioner, at the service of the profile "all" or at the only one."""
    for provisioner, mark in _MARKS.items():
        flags = ("-f", "/spec.yaml", "-o", "-", "--machine", "harbour-cp-0", "--provisioner", provisioner, *server)
        rendered, tries = _patiently(project, "render", *flags)
        detail = f"{len(rendered)} bytes{f' at try {tries}' if tries > 1 else ''}"
        where = f"{after}{'bootstrapper' if server else ALONE}: "
        findings.note(f"{where}a machine is rendered by {provisioner}", well=mark in rendered[:400], detail=detail)


def _download(project: Project, doors: Doors, findings: Findings) -> None:
    """Put a file into the gateway's volume, as docs/how-to/run-with-compose.md says, and download it by TLS."""
    content = b"a file for machines"
    digest = hashlib.sha256(content).hexdigest()
    folder, authority = doors.certificates / "release", doors.certificates / "gateway-ca.crt"
    (folder / "sha256").mkdir(parents=True)
    (folder / "sha256" / digest).write_bytes(content)
    project.fill("artifacts", folder)
    podman.podman("cp", f"{project.container(GATEWAY)}:/certs/ca.crt", str(authority))
    context = ssl.create_default_context(cafile=str(authority))
    with urlopen(f"{doors.gateway}/sha256/{digest}", context=context, timeout=_BACK_SECONDS) as answer:  # noqa: S310  # https
        findings.note("a file is downloaded from the gateway", well=answer.read() == content)


def _states(project: Project) -> dict[str, str]:
    listed, _ = _patiently(project, "provisioners", "-o", "json", *_SERVER, "--registry", "registry:9443")
    return {instance["name"]: instance["state"] for instance in json.loads(listed)}


def _patiently(project: Project, *arguments: str) -> tuple[str, int]:
    """Run the command line, up to three times: names of containers can be slow to resolve on a busy machine."""
    for tries in range(1, _TRIES):
        try:
            return project.cli(*arguments, files={_EXAMPLE: "/spec.yaml"}), tries
        except EngineBroken as failure:
            print(f"       {failure}")
    return project.cli(*arguments, files={_EXAMPLE: "/spec.yaml"}), _TRIES


async def _trust(doors: Doors, findings: Findings) -> None:
    endpoints = {name: f"{name}:9443" for name in PROVISIONERS}
    for trial in await trials(doors, endpoints, foreign=doors.certificates / "stranger"):
        findings.note(f"who asks {trial.what}", well=trial.passed, detail=trial.observed)


def _look(project: Project, findings: Findings) -> None:
    for service in SERVICES:
        wrong = look(service, project.container(service)).wrong(published=service in _PUBLISHED)
        findings.note(f"{service} can do no more than it must", well=not wrong, detail=wrong or "")


async def _restart(project: Project, doors: Doors, findings: Findings) -> None:
    killed = datetime.now(UTC)
    container = project.container("talos")
    # The container ends under it, so that podman may not learn how it went.
    podman.podman("exec", container, "python3", "-c", _KILL, check=False)
    with podman.health_checks(project.label):
        await _until_ready(doors, since={"talos": killed})
    seconds = (datetime.now(UTC) - killed).total_seconds()
    findings.note("a killed provisioner is back", well=True, detail=f"after {seconds:.1f} s")


def _stop(project: Project, findings: Findings) -> None:
    started = time.monotonic()
    project.stop()
    seconds = time.monotonic() - started
    findings.note("everything stops within its grace", well=seconds < _GRACE_SECONDS, detail=f"{seconds:.1f} s")
    for service in SERVICES:
        container = project.container(service)
        foreign = foreign_lines(container)
        code = _state(container)["ExitCode"]
        findings.note(
            f"{service} ends with 0 and wrote only JSON", well=code == 0 and not foreign, detail=foreign or ""
        )


def _stop_early(container: str, findings: Findings) -> None:
    """Start a service and ask it to end at that very moment, when it does not listen to signals yet."""
    started = time.monotonic()
    podman.podman("start", container)
    podman.podman("stop", "--time", "30", container)
    seconds = time.monotonic() - started
    findings.note("a service ends while it starts", well=seconds < _EARLY_SECONDS, detail=f"{seconds:.1f} s")


def _take_certificates(project: Project, folder: Path) -> None:
    """Copy what is in the volumes of certificates, which only root may do."""
    for name in (*SERVICES, "client"):
        volume = f"{project.name}_certificates-{name}"
        place = podman.podman("volume", "inspect", "--format", "{{.Mountpoint}}", volume).strip()
        shutil.copytree(place, folder / name, dirs_exist_ok=True)


async def _until_ready(doors: Doors, *, since: Mapping[str, datetime]) -> None:
    """Wait until all provisioners are ready, some of them with an instance that registered after a moment.

    Raises:
        TimeoutError: not within 30 seconds.
    """
    async with asyncio.timeout(_BACK_SECONDS), doors.caller() as caller:
        while not await _ready(caller, since):  # noqa: ASYNC110  # another process has no event
            await asyncio.sleep(0.2)


async def _ready(caller: Caller, since: Mapping[str, datetime]) -> bool:
    try:
        listed = await caller.provisioners()
    except SlipwayError:
        return False
    ready = {
        instance.info.name
        for instance in listed
        if instance.state == registrypb.INSTANCE_STATE_READY
        and instance.register_time.ToDatetime(tzinfo=UTC) >= since.get(instance.info.name, _LONG_AGO)
    }
    return ready == set(PROVISIONERS)


def _state(container: str) -> Mapping[str, object]:
    state: Mapping[str, object] = json.loads(podman.podman("inspect", "--format", "{{json .State}}", container))
    return state
