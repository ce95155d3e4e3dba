"""What a config refers to is counted while it is read, before it fills the memory of the controller."""

import threading
import tracemalloc
from collections.abc import Iterator, Mapping

import pytest

from slipway.contract.errors import BundleTooLarge
from slipway.contract.secret_references import MAX_REFERENCED_BYTES
from slipway.controller import question
from slipway.controller.halt import Halt
from slipway.controller.opt_in import questions
from slipway.controller.reasons import Reason
from slipway.controller.referenced_values import MOST_OBJECTS, MOST_READ_BYTES, referenced_values
from slipway.controller.work_budget import Share, WorkBudget
from slipway.kubernetes_api.resources import Json
from tests.services.controller.opt_in.opted_in import OptedIn, ready
from tests.services.controller.scene import Scene

MEBIBYTE = 1024 * 1024
SECRET = {"secretRef": {"name": "big", "key": "k"}}
CONFIG_MAP = {"configMapRef": {"name": "big", "key": "k"}}


class Objects:
    """Secrets that all have the same values, and what was read of them."""

    def __init__(self, values: Mapping[str, bytes] | None) -> None:
        """Take the values, None where no Secret exists."""
        self.values = values
        self.read: list[str] = []

    async def __call__(self, name: str) -> Mapping[str, bytes] | None:
        """Read one."""
        self.read.append(name)
        return self.values


def share() -> Share:
    """Give a share of a budget without an end."""
    return Share(WorkBudget(2**40))


def references(count: int, *, different: bool) -> Iterator[tuple[str, tuple[str, str]]]:
    """Refer to objects, as often to the same or each time to another one."""
    for index in range(count):
        yield f"spec.os.files[{index}]", (f"s{index:04}" if different else "s", "k")


@pytest.mark.parametrize(
    ("count", "different", "values", "reads", "path"),
    [
        (5, False, {"k": b"x" * MEBIBYTE}, 1, "spec.os.files[0]"),
        (500, True, {"k": b"x" * MEBIBYTE}, 5, "spec.os.files[4]"),
        (500, True, {"k": b"", "other": b"x" * MEBIBYTE}, 33, "spec.os.files[32]"),
        (MOST_OBJECTS + 1, True, {"k": b""}, MOST_OBJECTS, f"spec.os.files[{MOST_OBJECTS}]"),
        (MOST_OBJECTS + 1, True, None, MOST_OBJECTS, f"spec.os.files[{MOST_OBJECTS}]"),
    ],
)
async def test_reading_stops_where_it_is_too_much(
    count: int, different: bool, values: Mapping[str, bytes] | None, reads: int, path: str
) -> None:
    """The field of the reference that is too much is named, and nothing is read behind it."""
    objects = Objects(values)
    with pytest.raises(BundleTooLarge) as caught:
        await referenced_values(references(count, different=different), objects, kind="Secret", share=share())
    assert [violation.path for violation in caught.value.violations] == [path]
    assert len(objects.read) == reads
    assert (MAX_REFERENCED_BYTES, MOST_READ_BYTES) == (4 * MEBIBYTE, 32 * MEBIBYTE)


async def test_what_a_machine_can_have_is_given() -> None:
    """Only the keys to which something refers, and nothing for those that do not exist."""
    objects = Objects({"k": b"x" * MEBIBYTE, "other": b"y"})
    wanted = [*references(4, different=True), ("p", ("s0000", "gone"))]
    values = await referenced_values(wanted, objects, kind="Secret", share=share())
    assert values == {(f"s{index:04}", "k"): b"x" * MEBIBYTE for index in range(4)}
    assert await referenced_values(references(3, different=True), Objects(None), kind="Secret", share=share()) == {}


@pytest.mark.parametrize(("source", "field"), [(SECRET, "content.secretRef"), (CONFIG_MAP, "content")])
async def test_a_small_config_does_not_stand_for_much_memory(scene: Scene, source: Json, field: str) -> None:
    """A hundred references to one megabyte: it is refused by its field, in less memory than a tenth of them."""
    scene.secret("big", {"k": b"x" * 1_000_000})
    scene.api.put({"kind": "ConfigMap", "metadata": {"name": "big"}, "data": {"k": "x" * 1_000_000}})
    files = [{"path": f"/srv/{index}", "content": source} for index in range(100)]
    scene.worker(spec={"provisioner": {"name": "cloud-init"}, "os": {"files": files}})
    tracemalloc.start()
    try:
        await scene.reconcile()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    status, reason, message = scene.condition()
    assert (status, reason) == ("False", "BundleTooLarge")
    assert f"spec.os.files[0].{field}: " in message
    assert peak < 10_000_000


async def test_a_config_is_read_beside_the_event_loop(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """An object of 1.5 MB takes seconds to read: watches and health go on meanwhile; for configs that opted in, too."""
    opted_in = OptedIn()
    opted_in.cluster()
    ready(opted_in)
    threads: list[threading.Thread] = []

    def note(*_: object, **__: object) -> None:
        threads.append(threading.current_thread())
        raise Halt(Reason.FACT_CONFLICT, "far enough")

    monkeypatch.setattr(question, "read_spec", note)
    monkeypatch.setattr(questions, "_imported", note)
    scene.worker()
    opted_in.config()
    await scene.reconcile()
    await opted_in.reconcile()
    assert len(threads) == 2
    assert threading.main_thread() not in threads


async def test_many_secrets_of_a_kubeadm_config_are_not_all_read() -> None:
    """The same for a config that opted in, by the names of its fields."""
    scene = OptedIn()
    scene.cluster()
    ready(scene)
    for index in range(20):
        scene.secret(f"s{index:02}", {"k": b"x" * 1_000_000})
    source = [{"secret": {"name": f"s{index:02}", "key": "k"}} for index in range(20)]
    files = [{"path": f"/srv/{index}", "contentFrom": each} for index, each in enumerate(source)]
    scene.config(spec={"files": files})
    before = len(scene.api.calls)
    await scene.reconcile()
    read = [call for call in scene.api.calls[before:] if call[3] in {each["secret"]["name"] for each in source}]
    assert len(read) == 5
    assert any("spec.files[4].contentFrom.secret: " in item["message"] for item in scene.status()["conditions"])
