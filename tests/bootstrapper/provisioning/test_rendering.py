"""What a provisioner may do wrong, and what the caller gets."""

import hashlib
import threading
from collections.abc import Awaitable, Callable

import pytest

from slipway.bootstrapper.provisioning.rendering import MAX_ATTACHMENTS, render
from slipway.bootstrapper.provisioning.scrubbing import Scrubber
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.contract.errors import (
    ForeignStatus,
    NoReadyProvisioner,
    ProvisionerFailed,
    ProvisionerTimeout,
    SlipwayError,
    UnsupportedFeature,
)
from slipway.contract.status import Failure
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb

Answer = Callable[[provisionerpb.RenderRequest], Awaitable[provisionerpb.RenderResponse]]
UNAVAILABLE = 14
FORMAT = "cloud-config"


async def sound(request: provisionerpb.RenderRequest) -> provisionerpb.RenderResponse:
    """Answer as the contract asks."""
    data = b"#cloud-config\n"
    return provisionerpb.RenderResponse(
        request_tag=request.request_tag,
        user_data=data,
        format=request.format,
        sha256=hashlib.sha256(data).digest(),
        implementation_version="1.0.0",
    )


def but(**changes: object) -> Answer:
    """Answer soundly but for some fields."""

    async def answer(request: provisionerpb.RenderRequest) -> provisionerpb.RenderResponse:
        response = await sound(request)
        for name, value in changes.items():
            setattr(response, name, value)
        return response

    return answer


def failing(error: Callable[[], SlipwayError]) -> Answer:
    """Answer with an error."""

    async def answer(request: provisionerpb.RenderRequest) -> provisionerpb.RenderResponse:
        raise error()

    return answer


class Scripted:
    """Provisioners whose instances answer by a script; keeps account of the calls."""

    def __init__(self, **answers: Answer) -> None:
        self.answers = answers
        self.calls: list[str] = []

    def instances(self) -> list[registrypb.ProvisionerInstance]:
        """Give an instance for each script."""
        return [registrypb.ProvisionerInstance(instance_id=name) for name in self.answers]

    async def render(
        self, instance: registrypb.ProvisionerInstance, request: provisionerpb.RenderRequest, *, timeout: float
    ) -> provisionerpb.RenderResponse:
        """Answer as the instance's script says."""
        self.calls.append(instance.instance_id)
        return await self.answers[instance.instance_id](request)


def candidate(provisioners: Scripted) -> Candidate:
    """Give a candidate of all scripted instances."""
    info = provisionerpb.FormatInfo(format=FORMAT)
    return Candidate("cloud-init", "1.0.0", info, tuple(provisioners.instances()))


async def call(provisioners: Scripted) -> provisionerpb.RenderResponse:
    """Render an empty bundle."""
    response, _ = await render(
        provisioners, candidate(provisioners), bundlepb.BootstrapBundle(), accept_attachments=False
    )
    return response


@pytest.mark.parametrize(
    ("answer", "clause"),
    [
        (but(request_tag="another"), "another tag"),
        (but(format="ignition/3.3.0"), "another format"),
        (but(implementation_version="9.9.9"), "another version"),
        (but(user_data=b""), "empty"),
        (but(user_data=b"other bytes"), "hash"),
        (but(user_data=b"x" * (1024 * 1024 + 1)), "more than"),
    ],
    ids=["tag", "format", "version", "empty", "hash", "flood"],
)
async def test_a_broken_answer_is_named_and_the_next_instance_is_asked(answer: Answer, clause: str) -> None:
    """A broken answer never reaches the caller: the next instance serves, and without one the clause is named."""
    both = Scripted(first=answer, second=sound)
    assert (await call(both)).user_data == b"#cloud-config\n"
    assert both.calls == ["first", "second"]
    with pytest.raises(ProvisionerFailed, match=clause):
        await call(Scripted(first=answer))


@pytest.mark.parametrize(
    ("error", "calls", "reason"),
    [
        (lambda: ProvisionerTimeout("late"), ["first", "second"], "a hang is not repeated on the same instance"),
        (
            lambda: ForeignStatus(Failure(code=UNAVAILABLE, message="gone")),
            ["first", "first", "second"],
            "an instance that is away is asked once more",
        ),
        (
            lambda: NoReadyProvisioner("draining"),
            ["first", "first", "second"],
            "an instance that drains is asked once more",
        ),
    ],
)
async def test_failures_move_on_to_the_next_instance(
    error: Callable[[], SlipwayError], calls: list[str], reason: str
) -> None:
    """Hangs and deaths are bounded, and the next instance of the same name and version answers."""
    provisioners = Scripted(first=failing(error), second=sound)
    await call(provisioners)
    assert provisioners.calls == calls, reason


async def test_a_death_has_a_name() -> None:
    """Where no instance is left, the caller learns whom to wait for and how long."""
    gone = Scripted(first=failing(lambda: ForeignStatus(Failure(code=UNAVAILABLE, message="connection reset"))))
    with pytest.raises(NoReadyProvisioner, match='provisioner "cloud-init"') as caught:
        await call(gone)
    assert caught.value.retry_after == 2.0


@pytest.mark.parametrize("words", [b"s3cret-word", b"x" * 500_000], ids=["few secrets", "many secrets"])
async def test_a_hang_is_named_in_our_own_words(words: bytes) -> None:
    """However many secrets the machine has; what a provisioner itself says with that reason is not relayed."""
    provisioners = Scripted(first=failing(lambda: ProvisionerTimeout(f"late: {words[:20].decode()}")))
    bundle = bundlepb.BootstrapBundle()
    bundle.secrets.secrets.add(name="a", key="b", value=words)
    with pytest.raises(ProvisionerTimeout, match="did not answer within 3 seconds") as caught:
        await render(provisioners, candidate(provisioners), bundle, accept_attachments=False, timeout=3)
    assert words[:20].decode() not in caught.value.message
    assert caught.value.metadata == {"provisioner": "cloud-init"}


async def test_a_refusal_is_final() -> None:
    """A provisioner's refusal is an answer: no other instance is asked, and it says whose it is."""
    provisioners = Scripted(first=failing(lambda: UnsupportedFeature("cannot")), second=sound)
    with pytest.raises(UnsupportedFeature, match='provisioner "cloud-init"'):
        await call(provisioners)
    assert provisioners.calls == ["first"]


async def test_attachments_for_nobody_break_the_contract() -> None:
    """Attachments that the machine needs are no answer to a caller that can place none."""

    async def answer(request: provisionerpb.RenderRequest) -> provisionerpb.RenderResponse:
        response = await sound(request)
        response.attachments.add(name="script.ps1", content=b"x", sha256=hashlib.sha256(b"x").digest())
        return response

    with pytest.raises(ProvisionerFailed, match="attachments"):
        await call(Scripted(first=answer))


@pytest.mark.parametrize("name", ["../escape", "a/b", "a\\b", "", ".."])
async def test_attachment_names_are_file_names(name: str) -> None:
    """An attachment cannot be written outside the folder of its machine."""

    async def answer(request: provisionerpb.RenderRequest) -> provisionerpb.RenderResponse:
        response = await sound(request)
        response.attachments.add(name=name, content=b"", sha256=hashlib.sha256(b"").digest(), operator_only=True)
        return response

    with pytest.raises(ProvisionerFailed, match="names"):
        await call(Scripted(first=answer))


async def test_more_attachments_than_any_machine_has_break_the_contract() -> None:
    """Each name is searched for secrets: the work stays bounded."""

    async def answer(request: provisionerpb.RenderRequest) -> provisionerpb.RenderResponse:
        response = await sound(request)
        for number in range(MAX_ATTACHMENTS + 1):
            digest = hashlib.sha256(b"").digest()
            response.attachments.add(name=f"{number}", sha256=digest, operator_only=True)
        return response

    with pytest.raises(ProvisionerFailed, match="more than 64 attachments"):
        await call(Scripted(first=answer))


async def test_names_are_searched_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it takes to find a secret is made at the first name, which takes long where the secrets are."""
    threads: list[threading.Thread] = []

    def holds(self: Scrubber, text: str) -> bool:
        threads.append(threading.current_thread())
        return False

    monkeypatch.setattr(Scrubber, "holds", holds)

    async def answer(request: provisionerpb.RenderRequest) -> provisionerpb.RenderResponse:
        response = await sound(request)
        response.attachments.add(name="a", sha256=hashlib.sha256(b"").digest(), operator_only=True)
        return response

    await call(Scripted(first=answer))
    assert threads
    assert threading.main_thread() not in threads


async def test_no_provisioner_says_where_machines_fetch() -> None:
    """An attachment with a URL would be stored where the provisioner wants, and not where the operator does."""

    async def answer(request: provisionerpb.RenderRequest) -> provisionerpb.RenderResponse:
        response = await sound(request)
        digest = hashlib.sha256(b"").digest()
        response.attachments.add(name="a", sha256=digest, operator_only=True, url="https://a.example/a")
        return response

    with pytest.raises(ProvisionerFailed, match="a URL"):
        await call(Scripted(first=answer))
