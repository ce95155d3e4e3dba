"""A provisioner is killed and replaced while requests keep coming."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from rich.console import Console

from slipway.cli.processes import LocalServices
from slipway.cli.remote import RemoteBackend
from slipway.contract.errors import SlipwayError
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from tools.demo.findings import Findings
from tools.demo.machines import example

NAME = "cloud-init"
MODULE = "cloud_init"
_BEFORE, _AFTER = 20, 40
_WAIT_SECONDS = 15.0
_PAUSE_SECONDS = 0.02


@dataclass(slots=True)
class _Stream:
    """Requests one after another, and who answered them."""

    backend: RemoteBackend
    request: bootstrappb.GetUserDataRequest
    answered: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    last: str = ""
    stop: bool = False

    @property
    def total(self) -> int:
        return sum(self.answered.values())

    async def run(self) -> None:
        while not self.stop:
            try:
                answer = await self.backend.user_data(self.request)
            except SlipwayError as error:
                self.failures.append(error.reason or error.code.name)
                continue
            self.last = answer.provisioner.instance_id
            self.answered[self.last] = self.answered.get(self.last, 0) + 1


async def failover_act(services: LocalServices, backend: RemoteBackend, screen: Console, findings: Findings) -> None:
    """Start a second instance, kill the one that answers in the middle of a stream of requests, and start a third."""
    question = example("native.yaml", machines=("harbour-worker",)).questions[0]
    question.subject.spec.provisioner.name = NAME
    stream = _Stream(backend, bootstrappb.GetUserDataRequest(subject=question.subject, accept_attachments=True))
    loop = asyncio.get_running_loop()
    with screen.status("a second instance of cloud-init is starting ..."):
        await services.start_provisioner(MODULE, name="cloud-init-2")
        await _instances(backend, 2)
    asking = asyncio.create_task(stream.run())
    with screen.status("requests keep coming ..."):
        await _until(lambda: stream.total >= _BEFORE or bool(stream.failures))
        killed, before = stream.last, stream.total
        await _kill(services, backend, killed)
        await _until(lambda: stream.total >= before + _AFTER or bool(stream.failures))
        started = loop.time()
        await services.start_provisioner(MODULE, name="cloud-init-3")
        await _instances(backend, 2, without=killed)
        seconds = loop.time() - started
    stream.stop = True
    await asking
    rest = stream.total - stream.answered.get(killed, 0)
    screen.print(
        f"Two instances of cloud-init are ready. {stream.answered.get(killed, 0)} requests were answered by one, which "
        f"was killed (SIGKILL) while they kept coming; {rest} more were answered by others, and {len(stream.failures)} "
        f"failed. A replacement registered itself {seconds:.1f} s after its start."
    )
    findings.note(
        "failover",
        {"answered_before": before, "by_instance": list(stream.answered.values()), "failed": stream.failures},
    )
    findings.expect(not stream.failures, f"{len(stream.failures)} requests failed while a provisioner was replaced")
    findings.expect(rest >= _AFTER, "no other instance answered after the kill")


async def _kill(services: LocalServices, backend: RemoteBackend, instance_id: str) -> None:
    """Kill the process of an instance, found by its address."""
    endpoint = next(
        provisioner.endpoint for provisioner in await backend.provisioners() if provisioner.instance_id == instance_id
    )
    name = next(name for name, process in services.processes.items() if process.address == endpoint)
    await services.processes.pop(name).kill()


async def _until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, or long enough."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _WAIT_SECONDS
    while loop.time() < deadline and not holds():  # noqa: ASYNC110  # what holds is counted, not announced
        await asyncio.sleep(_PAUSE_SECONDS)


async def _instances(backend: RemoteBackend, wanted: int, *, without: str = "") -> None:
    """Wait until so many instances are ready; the killed one may be listed until its lease ends."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _WAIT_SECONDS
    while loop.time() < deadline:
        ready = {
            provisioner.instance_id
            for provisioner in await backend.provisioners()
            if provisioner.info.name == NAME and provisioner.state == registrypb.INSTANCE_STATE_READY
        }
        if len(ready - {without}) >= wanted:
            return
        await asyncio.sleep(_PAUSE_SECONDS)
