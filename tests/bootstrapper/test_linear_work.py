"""Four times the spec is four times the work: nobody can hold a server for minutes by a small request.

Calls of functions are counted, not seconds: the count is the same on every machine.
"""

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import FrameType

import pytest
from google.protobuf import text_format

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.compilation.compiler import Compiler
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.engines.kubeadm.engine import KubeadmEngine
from slipway.bootstrapper.engines.result import EngineResult
from slipway.bootstrapper.engines.table import EngineTable
from slipway.bootstrapper.explain_matrix import MAX_ROWS_BYTES
from slipway.bootstrapper.explanation import explain
from slipway.bootstrapper.lowering.table import all_passes
from slipway.bootstrapper.os_profiles import ProfileTable
from slipway.contract.errors import SlipwayError
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

pytestmark = pytest.mark.long

SUBJECT = """
spec { target { os_family: OS_FAMILY_LINUX distribution: "debian" os_version: "13" infrastructure: "metal" } }
cluster { name: "c" kubernetes_version: "v1.34.2" endpoint { host: "h" port: 6443 } }
machine { name: "m" role: ROLE_WORKER }
"""
FEWEST, FEW, MANY = 2, 12, 48
BEYOND_PROPORTION = 1.1
"""Sorting and the like; with quadratic work it is twice and more."""

Add = Callable[[bootstrappb.Subject, int], None]


def _commands(subject: bootstrappb.Subject, number: int) -> None:
    for phase in (subject.spec.commands.boot, subject.spec.commands.pre, subject.spec.commands.post):
        phase.add().script.text = f"echo {number}"


def _impossible_commands(subject: bootstrappb.Subject, number: int) -> None:
    command = subject.spec.commands.boot.add(reboot=number >= FEW // 2 and number % 2 == 0)
    command.script.text = "true"


def _empty_commands(subject: bootstrappb.Subject, number: int) -> None:
    del number
    subject.spec.commands.pre.add()


def _files(subject: bootstrappb.Subject, number: int) -> None:
    subject.spec.os.files.add(path=f"/srv/{number}", owner="ann", append=True).content.text = "x"


def _foreign_files(subject: bootstrappb.Subject, number: int) -> None:
    template = contentpb.ExtensionText(id="cloud-init.slipway.dev/jinja", text="{{ x }}")
    content = subject.spec.os.files.add(path=f"/srv/{number}").content
    content.segments.add(extension=None if number % 2 else template, text="x" if number % 2 else None)


def _secret_files(subject: bootstrappb.Subject, number: int) -> None:
    reference = subject.spec.os.files.add(path=f"/srv/{number}").content.secret_ref
    reference.name, reference.key = f"s{number}", "value"


def _chained_links(subject: bootstrappb.Subject, number: int) -> None:
    subject.spec.os.links.add(path=f"/srv/{number}", target=f"/srv/{number - 1}", hard=True, owner="ann")


def _users(subject: bootstrappb.Subject, number: int) -> None:
    subject.spec.os.users.add(name=f"u{number}", primary_group=f"g{number}")
    subject.spec.os.groups.add(name=f"g{number}")
    subject.spec.os.directories.add(path=f"/home/u{number}/x", owner=f"u{number}")


def _units(subject: bootstrappb.Subject, number: int) -> None:
    subject.spec.os.systemd_units.add(name=f"u{number}.service", masked=True)


def _system(subject: bootstrappb.Subject, number: int) -> None:
    subject.spec.os.sysctls.add(name=f"a.b{number}", value="1")
    subject.spec.os.kernel_modules.add(name=f"m{number}")
    subject.spec.os.mounts.add(path=f"/mnt/{number}", source=f"/dev/b{number}")


ADDERS: list[Add] = [
    _commands,
    _impossible_commands,
    _empty_commands,
    _files,
    _foreign_files,
    _secret_files,
    _chained_links,
    _users,
    _units,
    _system,
]


@contextmanager
def counted_calls() -> Iterator[list[int]]:
    """Count calls of functions in every thread; the sum is what the list holds."""
    calls = [0]

    def count(frame: FrameType, event: str, argument: object) -> None:
        del frame, argument
        if event == "call":
            calls[0] += 1

    threading.setprofile(count)
    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def subject(add: Add, number: int) -> bootstrappb.Subject:
    """Give a machine with so many of something."""
    machine = text_format.Parse(SUBJECT, bootstrappb.Subject())
    if add in {_files, _chained_links}:
        machine.spec.os.users.add(name="ann")
    for each in range(number):
        add(machine, each)
    return machine


def work_of(ask: Callable[[Bootstrapper, bootstrappb.Subject], Awaitable[object]], add: Add, number: int) -> int:
    """Count the calls that a question takes, answered or refused."""
    bootstrapper, machine = embedded_bootstrapper(store=PlaceholderStore()), subject(add, number)

    async def whole() -> None:
        with suppress(SlipwayError):
            await ask(bootstrapper, machine)

    with counted_calls() as calls:
        asyncio.run(whole())
    return calls[0]


def _explain(bootstrapper: Bootstrapper, machine: bootstrappb.Subject) -> Awaitable[object]:
    return explain(bootstrapper, bootstrappb.ExplainRequest(subject=machine))


def _user_data(name: str) -> Callable[[Bootstrapper, bootstrappb.Subject], Awaitable[object]]:
    def ask(bootstrapper: Bootstrapper, machine: bootstrappb.Subject) -> Awaitable[object]:
        machine.spec.provisioner.name = name
        return bootstrapper.user_data(bootstrappb.GetUserDataRequest(subject=machine))

    return ask


@pytest.mark.parametrize("add", ADDERS, ids=lambda add: add.__name__.strip("_"))
@pytest.mark.parametrize("question", ["explain", "cloud-init", "ignition", "talos"])
def test_work_grows_with_the_spec(question: str, add: Add) -> None:
    """Four times as many items take four times as many calls for them at most."""
    ask = _explain if question == "explain" else _user_data(question)
    work_of(ask, add, FEWEST)  # What is compiled once and kept is no work of any.
    fewest, few, many = (work_of(ask, add, number) for number in (FEWEST, FEW, MANY))
    # What a machine takes without any of them is no work of theirs, and would hide a part of it.
    most = fewest + (few - fewest) * (MANY - FEWEST) / (FEW - FEWEST) * BEYOND_PROPORTION
    assert many <= most, f"{fewest} calls for {FEWEST}, {few} for {FEW}, {many} for {MANY}"


def test_rows_that_are_left_out_are_counted() -> None:
    """An answer stays below what a message may have, and says how many rows are missing."""
    bootstrapper, machine = embedded_bootstrapper(store=PlaceholderStore()), subject(_commands, 0)
    for number in range(400):
        _commands(machine, number)
        for phase in (machine.spec.commands.boot, machine.spec.commands.pre, machine.spec.commands.post):
            phase[number].origin.path = f"spec.{'x' * 900}[{number}]"
    answer = asyncio.run(explain(bootstrapper, bootstrappb.ExplainRequest(subject=machine)))
    assert MAX_ROWS_BYTES * 0.99 < answer.ByteSize() < MAX_ROWS_BYTES * 1.2
    (diagnostic,) = (entry for entry in answer.diagnostics if entry.code != "DELIVERY")
    one_row, two_rows = (len(_rows(bootstrapper, number)) for number in (1, 2))
    assert diagnostic.code == "ROWS_LEFT_OUT"
    assert len(answer.rows) + int(diagnostic.message.split()[0]) == one_row + 399 * (two_rows - one_row)


def _rows(bootstrapper: Bootstrapper, number: int) -> list[bootstrappb.ExplainRow]:
    request = bootstrappb.ExplainRequest(subject=subject(_commands, number))
    return list(asyncio.run(explain(bootstrapper, request)).rows)


class _Engine(KubeadmEngine):
    """The engine, and the threads that it worked in."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[threading.Thread] = set()

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Build a plan, and note where."""
        self.threads.add(threading.current_thread())
        return super().build_plan(bundle, served)


@pytest.mark.parametrize(("number", "aside"), [(1, False), (1000, True)])
def test_large_specs_are_worked_on_beside_the_event_loop(number: int, *, aside: bool) -> None:
    """What may take a while leaves the event loop to health checks and other callers; what is small needs no thread."""
    engine = _Engine()
    compiler = Compiler(engines=EngineTable([engine]), profiles=ProfileTable.shipped(), passes=all_passes())
    bootstrapper = replace(embedded_bootstrapper(store=PlaceholderStore()), compiler=compiler)
    asyncio.run(_whole(_user_data("cloud-init")(bootstrapper, subject(_commands, number))))
    assert (threading.main_thread() not in engine.threads) is aside


async def _whole(answer: Awaitable[object]) -> None:
    await answer
