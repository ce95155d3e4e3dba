"""What becomes of requests when processes die, hang, disagree or come back."""

import asyncio
import signal
from typing import Any

import pytest

from slipway.contract.errors import SlipwayError
from slipway.fake_provisioner.server import DEATH
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.integration.site import BACK_SECONDS, RENDER_SECONDS, START_SECONDS, Site, request, until

# One process has all tests, and starts the services once.
pytestmark = [
    pytest.mark.long,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(400),
    pytest.mark.xdist_group("faults"),
]


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
