"""What becomes of requests when processes die, hang, disagree or come back: all services as processes of their own.

They speak over loopback as in production, with its lease times; waits are for conditions, each with a bound.
"""

import asyncio
import itertools
import json
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from services.cli.processes import LOOPBACK, LocalServices, Process, free_port
from services.cli.readiness import local_connection
from services.cli.remote import RemoteBackend
from services.contract.errors import SlipwayError
from services.rpc.channel import ChannelPool
from services.rpc.client import invoke
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import BootstrapServiceStub
from tools.fake_provisioner.server import DEATH

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(400)]

FAKE = "tools.fake_provisioner"
RENDER_SECONDS = 2.0
START_SECONDS = 120.0
BACK_SECONDS = 15.0
READY = registrypb.INSTANCE_STATE_READY


class Site:
    """All processes, and a connection to them."""

    def __init__(self, services: LocalServices) -> None:
        self.services = services
        self.backend = RemoteBackend(local_connection(services))
        self.channels = ChannelPool(tls=None, trust_domain="slipway")
        self._numbers = itertools.count()

    async def registry(self) -> Process:
        """Start the registry, with the lease times of production."""
        return await self.services.run("registry", "services.registry", self.services.registry)

    async def provisioner(self, name: str, version: str = "1.0.0", **script: Any) -> Process:
        """Start a fake with a script, and wait until it is listed as ready."""
        process = await self.start(name, version, **script)
        await until(lambda: self._is_listed(process), START_SECONDS)
        return process

    async def start(self, name: str, version: str = "1.0.0", *, registry: str = "", **script: Any) -> Process:
        """Start a fake with a script; `registry` is another one than the site's."""
        features = ["os.files", "os.links", "plan.entrypoint"]
        label = f"{name}-{next(self._numbers)}"
        path = self.services.logs / f"{label}.yaml"
        path.write_text(yaml.safe_dump({"name": name, "version": version, "features": features, **script}), "utf-8")
        flags = ["--script", str(path), "--registry-address", registry or self.services.registry]
        return await self.services.run(label, FAKE, f"{LOOPBACK}:{free_port()}", *flags)

    def log(self, process: Process) -> list[dict[str, Any]]:
        """What a fake has logged."""
        text = (self.services.logs / f"{process.name}.log").read_text("utf-8")
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    async def ready(self) -> dict[str, str]:
        """Give the instance ids of those that are ready, by address; none while the registry is away."""
        try:
            return {one.endpoint: one.instance_id for one in await self.backend.provisioners() if one.state == READY}
        except (SlipwayError, ConnectionError):
            return {}

    async def _is_listed(self, process: Process) -> bool:
        return process.address in await self.ready()

    async def ask(self, name: str, *, version: str = "", link: bool = False) -> bootstrappb.GetUserDataResponse:
        """Ask for user data."""
        return await self.backend.user_data(request(name, version=version, link=link))

    async def once(self, name: str) -> bootstrappb.GetUserDataResponse:
        """Ask for user data, and leave it at the first answer: gRPC itself would repeat the call."""
        async with self.channels.once(self.services.bootstrapper) as channel:
            return await invoke(BootstrapServiceStub(channel).GetUserData, request(name), timeout=START_SECONDS)

    async def answers(self) -> bool:
        """Whether the bootstrapper is there, whatever it says."""
        try:
            await self.ask("nobody")
        except ConnectionError:
            return False
        except SlipwayError:
            return True
        return True

    async def serves(self, name: str) -> None:
        """Wait until the bootstrapper knows a provisioner."""

        async def answers() -> bool:
            try:
                await self.ask(name)
            except (SlipwayError, ConnectionError):
                return False
            return True

        await until(answers, START_SECONDS)


async def until(condition: Callable[[], Awaitable[bool]], seconds: float) -> float:
    """Wait for a condition, and give the seconds that it took."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    while not await condition():
        assert loop.time() - started < seconds, f"not within {seconds} seconds"
        await asyncio.sleep(0.05)
    return loop.time() - started


def request(name: str, *, version: str = "", link: bool = False) -> bootstrappb.GetUserDataRequest:
    """Give the request for a worker by a provisioner."""
    asked = bootstrappb.GetUserDataRequest()
    asked.subject.cluster.CopyFrom(clusterpb.Cluster(name="c", kubernetes_version="v1.34.2", endpoint={"host": "h"}))
    asked.subject.machine.CopyFrom(clusterpb.Machine(name="m", role=clusterpb.ROLE_WORKER))
    asked.subject.spec.provisioner.name = name
    if version:
        asked.subject.spec.provisioner.version = version
    if link:
        asked.subject.spec.os.links.append(ospb.Link(path="/etc/link", target="x"))
    return asked


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """Give registry and bootstrapper; provisioners are started by the tests."""
    folder: Path = tmp_path_factory.mktemp("site")
    services = LocalServices(folder / "logs", folder / "credentials")
    services.logs.mkdir()
    made = Site(services)
    try:
        await made.registry()
        flags = ["--registry-address", services.registry, "--credentials-dir", str(services.credentials)]
        flags += ["--allowed-provisioners", "pair,stopped,versions,refusing,lasting,scripted"]
        flags += ["--render-timeout-seconds", str(RENDER_SECONDS)]
        await services.run("bootstrapper", "bootstrapper", services.bootstrapper, *flags)
        await until(made.answers, START_SECONDS)
        yield made
    finally:
        await made.backend.close()
        await made.channels.close()
        await services.stop()


async def test_a_killed_provisioner_is_replaced_by_the_next_instance(site: Site) -> None:
    """The very next request is answered by the other one, and a new process is used when it is there."""
    first, second = await site.provisioner("pair"), await site.provisioner("pair")
    await site.serves("pair")
    ids = await site.ready()
    used = (await site.ask("pair")).provisioner.instance_id
    dying, other = (first, second) if ids[first.address] == used else (second, first)
    await dying.kill()
    assert (await site.ask("pair")).provisioner.instance_id == ids[other.address]
    third = await site.provisioner("pair")
    await other.kill()
    expected = (await site.ready())[third.address]

    async def answered_by_the_third() -> bool:
        try:
            return (await site.ask("pair")).provisioner.instance_id == expected
        except (SlipwayError, ConnectionError):
            return False

    assert await until(answered_by_the_third, BACK_SECONDS) < BACK_SECONDS
    await third.stop()


async def test_a_stopped_provisioner_costs_one_deadline(site: Site) -> None:
    """One that hangs is left for the next after its deadline; when all hang, the error is bounded and has a name."""
    processes = [await site.provisioner("stopped"), await site.provisioner("stopped")]
    await site.serves("stopped")
    ids = await site.ready()
    used = (await site.ask("stopped")).provisioner.instance_id
    hanging, other = sorted(processes, key=lambda one: ids[one.address] != used)
    loop = asyncio.get_running_loop()
    hanging.handle.send_signal(signal.SIGSTOP)
    try:
        started = loop.time()
        assert (await site.ask("stopped")).provisioner.instance_id == ids[other.address]
        assert loop.time() - started < RENDER_SECONDS * 2.5
        other.handle.send_signal(signal.SIGSTOP)
        started = loop.time()
        with pytest.raises(SlipwayError) as caught:
            await site.ask("stopped")
        assert caught.value.reason in {"PROVISIONER_TIMEOUT", "NO_READY_PROVISIONER"}
        assert loop.time() - started < RENDER_SECONDS * 4
    finally:
        for process in processes:
            process.handle.send_signal(signal.SIGCONT)
            await process.stop()


async def test_two_versions_stand_side_by_side(site: Site) -> None:
    """The newest is taken, an older one when the spec pins it, and one that is not there is refused."""
    old, new = await site.provisioner("versions", "1.9.0"), await site.provisioner("versions", "1.10.0")
    await site.serves("versions")

    async def newest() -> bool:
        return (await site.ask("versions")).provisioner.version == "1.10.0"

    await until(newest, BACK_SECONDS)
    pinned = await site.ask("versions", version="1.9.0")
    assert (pinned.provisioner.version, pinned.user_data.splitlines()[0]) == ("1.9.0", b"1.9.0")
    with pytest.raises(SlipwayError) as caught:
        await site.ask("versions", version="2.0.0")
    assert caught.value.reason == "PROVISIONER_NOT_FOUND"
    for process in (old, new):
        await process.stop()


async def test_a_feature_that_is_declared_and_refused_is_lowered(site: Site) -> None:
    """The refusal travels over the wire with its field path, and the item is lowered."""
    process = await site.provisioner("refusing", render=[{"fault": "Refuses", "feature": "os.links"}])
    await site.serves("refusing")
    answer = await site.ask("refusing", link=True)
    assert "os.links" in {one.feature for one in answer.lowered}
    assert b"/etc/link" not in answer.user_data
    await process.stop()


# What becomes of each thing that a provisioner may do: the steps of one script, in their order. The reason is that of
# the error, "" for user data; a transient failure is asked once more, so it has two steps or one that is followed by a
# sound answer.
RENDERS: list[tuple[list[dict[str, Any]], str]] = [
    ([{"fault": "None"}], ""),
    ([{"fault": "Status", "reason": "NO_READY_PROVISIONER", "retryAfter": "2s"}, {"fault": "None"}], ""),
    ([{"fault": "Status", "reason": "NO_READY_PROVISIONER", "retryAfter": "2s"}] * 2, "NO_READY_PROVISIONER"),
    ([{"fault": "Status", "reason": "OVERLOADED", "retryAfter": "2s"}, {"fault": "None"}], ""),
    ([{"fault": "WrongTag"}], "PROVISIONER_FAILED"),
    ([{"fault": "WrongFormat"}], "PROVISIONER_FAILED"),
    ([{"fault": "WrongVersion"}], "PROVISIONER_FAILED"),
    ([{"fault": "BadHash"}], "PROVISIONER_FAILED"),
    ([{"fault": "Empty"}], "PROVISIONER_FAILED"),
    ([{"fault": "Flood", "bytes": 1_100_000}], "PROVISIONER_FAILED"),
    ([{"fault": "StrangeAttachment"}], "PROVISIONER_FAILED"),
    ([{"fault": "Hang"}], "PROVISIONER_TIMEOUT"),
    ([{"fault": "None", "after": "500ms"}], ""),
    ([{"fault": "Status", "reason": "INTERNAL"}], "INTERNAL"),
    ([{"fault": "Status", "reason": "UNSUPPORTED_TARGET"}], "UNSUPPORTED_TARGET"),
    ([{"fault": "None"}], ""),
    ([{"fault": "Die"}], "NO_READY_PROVISIONER"),
]  # fmt: skip


async def test_what_becomes_of_everything_that_a_provisioner_may_do(site: Site) -> None:
    """Each fault has its named error, a transient one is asked once more, and the next machine is served again."""
    steps = [{"calls": number, **step} for number, step in enumerate((one for some, _ in RENDERS for one in some), 1)]
    process = await site.provisioner("scripted", render=steps)
    await site.serves("scripted")
    found = [""]
    for _ in RENDERS[1:]:
        try:
            found.append("" if (await site.once("scripted")).user_data else "empty")
        except SlipwayError as error:
            found.append(error.reason or error.code.name)
    assert found == [reason for _, reason in RENDERS]
    calls = [line for line in site.log(process) if line.get("call") == "Render"]
    assert [line["fault"] for line in calls] == [step["fault"] for step in steps]
    assert await process.handle.wait() == DEATH


# What the registry answers to a provisioner with such a script, as that logs it.
ANNOUNCEMENTS: list[tuple[dict[str, Any], str]] = [
    ({"info": [{"fault": "WrongName"}]}, "REGISTRATION_REJECTED"),
    ({"info": [{"fault": "WrongVersion"}]}, "REGISTRATION_REJECTED"),
    ({"info": [{"fault": "NotAdvertised"}]}, "REGISTRATION_REJECTED"),
    ({"info": [{"fault": "NoFormats"}]}, "REGISTRATION_REJECTED"),
    ({"info": [{"fault": "Flood", "bytes": 100_000}]}, "REGISTRATION_REJECTED"),
    ({"info": [{"fault": "Hang"}]}, "ENDPOINT_UNREACHABLE"),
    ({"info": [{"fault": "Status", "code": "DATA_LOSS"}]}, "ENDPOINT_UNREACHABLE"),
    ({"health": [{"fault": "UnknownService"}]}, "ENDPOINT_UNREACHABLE"),
    ({"health": [{"fault": "Hang"}]}, "ENDPOINT_UNREACHABLE"),
    ({"registration": {"endpoint": f"{LOOPBACK}:1"}}, "ENDPOINT_UNREACHABLE"),
    ({"registration": {"name": "somebody-else"}}, "REGISTRATION_REJECTED"),
    ({"info": [{"fault": "OtherFeatures"}]}, "CAPABILITIES_DISAGREE"),
]


async def test_what_the_registry_answers_to_announcements(site: Site) -> None:
    """What an endpoint says of itself is checked by a call back; one that disagrees with the others stays outside."""
    sound = await site.provisioner("announced")
    processes = [await site.start("announced", **script) for script, _ in ANNOUNCEMENTS]

    def missing() -> list[tuple[dict[str, Any], str]]:
        # On a busy machine the call itself may end before its answer; the keeper asks again.
        said = [{line.get("reason") for line in site.log(one)} for one in processes]
        return [row for row, reasons in zip(ANNOUNCEMENTS, said, strict=True) if row[1] not in reasons]

    async def all_answered() -> bool:
        return not missing()

    try:
        await until(all_answered, START_SECONDS)
        assert not [one for one in processes if any(line["event"] == "registered" for line in site.log(one))]
        ready = await site.ready()
        assert sound.address in ready
        assert not {one.address for one in processes} & set(ready)
    finally:
        for one in [*processes, sound]:
            await one.stop()


async def test_states_that_an_instance_may_have(site: Site) -> None:
    """It may be listed and not ready; without renewals or a good-bye its lease runs out."""
    address = f"{LOOPBACK}:{free_port()}"
    hasty = ["--lease-ttl-seconds", "3", "--renew-after-seconds", "0.5", "--probe-seconds", "1"]
    registry = await site.services.run("hasty-registry", "services.registry", address, *hasty)
    backend = RemoteBackend(replace(local_connection(site.services), registry=address))
    waiting = await site.start("states", registry=address, health=[{"fault": "NotServing"}])
    mute = {"renew": False, "deregister": False}
    silent = await site.start("states", registry=address, registration=mute)

    async def state(process: Process) -> str:
        try:
            found = {one.endpoint: one.state for one in await backend.provisioners()}
        except (SlipwayError, ConnectionError):
            return ""
        return registrypb.InstanceState.Name(found[process.address]) if process.address in found else ""

    async def waits() -> bool:
        return await state(waiting) == "INSTANCE_STATE_NOT_READY"

    async def expired() -> bool:
        return await state(silent) == "INSTANCE_STATE_EXPIRED"

    try:
        await until(waits, START_SECONDS)
        await until(expired, START_SECONDS)
        assert silent.running
        assert await waits()
        await silent.stop()
        await waiting.stop()
        assert [await state(one) for one in (silent, waiting)] == ["INSTANCE_STATE_EXPIRED", ""]
    finally:
        await backend.close()
        await registry.stop()


async def test_a_name_that_is_not_on_the_list_gets_no_bundle(site: Site) -> None:
    """It may register; the bootstrapper never calls it."""
    process = await site.provisioner("stranger")
    with pytest.raises(SlipwayError) as caught:
        await site.ask("stranger")
    assert caught.value.reason == "PROVISIONER_NOT_ALLOWED"
    await process.stop()


async def test_the_registry_may_go_and_come_back(site: Site) -> None:
    """While it is away the last list serves; when it is back, so are provisioners, in 15 seconds and by themselves."""
    process = await site.provisioner("lasting")
    await site.serves("lasting")
    await site.services.processes["registry"].kill()
    for _ in range(5):
        assert (await site.ask("lasting")).user_data
    await site.registry()

    async def back() -> bool:
        assert (await site.ask("lasting")).user_data
        return process.address in await site.ready()

    started = asyncio.get_running_loop().time()
    await until(lambda: _is_up(site), START_SECONDS)
    up = asyncio.get_running_loop().time()
    await until(back, BACK_SECONDS)
    assert asyncio.get_running_loop().time() - up < BACK_SECONDS
    assert up >= started
    await process.stop()


async def _is_up(site: Site) -> bool:
    try:
        await site.backend.provisioners()
    except (SlipwayError, ConnectionError):
        return False
    return True


async def test_an_expired_secret_is_refused(site: Site) -> None:
    """A machine whose token is over could never join: it is told before the machine exists."""
    process = await site.provisioner("lasting")
    await site.serves("lasting")
    asked = request("lasting")
    file = asked.subject.spec.os.files.add(path="/etc/token")
    file.content.secret_ref.name, file.content.secret_ref.key = "mine", "token"
    secret = asked.credentials.secrets.add(name="mine", key="token", value=b"x", kind=secretpb.SECRET_KIND_OPAQUE)
    assert (await site.backend.user_data(asked)).user_data
    secret.expire_time.FromJsonString("2020-01-01T00:00:00Z")
    with pytest.raises(SlipwayError) as caught:
        await site.backend.user_data(asked)
    assert caught.value.reason == "SECRET_EXPIRED"
    await process.stop()
