"""What each executor reports of the kubelet and of the container runtime, and that it costs a bootstrap nothing."""

from dataclasses import dataclass

import pytest

from slipway.bootstrapper.lowering.runners.linux_file import RUN_PROGRAM
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import report_pb2 as reportpb
from tests.bootstrapper.lowering.runners.events import CONSOLE, EVENTS, events, short
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import POST, PRE, SENTINEL, lowered, note, script

pytestmark = pytest.mark.long

ENTRY = ["/bin/sh", RUN_PROGRAM]
KUBELET, CONTAINERD, CRIO = "/var/lib/kubelet", "/run/containerd", "/run/crio"
SOCKET = f"{CONTAINERD}/containerd.sock"


@dataclass(frozen=True)
class Case:
    """One line of the table.

    Attributes:
        says: what it proves.
        daemons: what listens on the machine.
        folders: what is on the machine before.
        observed: the reasons.
    """

    says: str
    daemons: tuple[str, ...]
    folders: tuple[str, ...]
    observed: tuple[str, ...]


CASES = [
    Case("all is well", ("200", SOCKET), (KUBELET,), ("KubeletHealthy", "ContainerRuntimeRunning")),
    Case("a kubelet that is part of another program", ("200",), (), ("KubeletHealthy",)),
    Case(
        "a kubelet that answers a failure",
        ("500", SOCKET),
        (KUBELET,),
        ("KubeletNotHealthy", "ContainerRuntimeRunning"),
    ),
    Case(
        "a kubelet that does not answer", ("hang", SOCKET), (KUBELET,), ("KubeletNotHealthy", "ContainerRuntimeRunning")
    ),
    Case("nothing runs", (), (KUBELET,), ("KubeletNotHealthy", "ContainerRuntimeNotRunning")),
    Case("a runtime is there and does not run", (), (CONTAINERD,), ("ContainerRuntimeNotRunning",)),
    Case("another runtime", (f"{CRIO}/crio.sock",), (), ("ContainerRuntimeRunning",)),
    Case("a runtime in a folder of a distribution", ("/run/k0s/containerd.sock",), (), ("ContainerRuntimeRunning",)),
    Case(
        "another socket is none",
        (f"{CONTAINERD}/other.sock",),
        (KUBELET,),
        ("KubeletNotHealthy", "ContainerRuntimeNotRunning"),
    ),
    Case("neither is there", ("/run/some/other.sock",), (), ()),
]


def prepare(machine: LinuxMachine, case: Case) -> None:
    """Give the machine what the case has."""
    machine.is_alone = True
    machine.daemons = list(case.daemons)
    for folder in case.folders:
        machine.path(folder).mkdir(parents=True, exist_ok=True)


@pytest.mark.parametrize("succeeds", [True, False], ids=["a success", "a failure"])
@pytest.mark.parametrize("case", CASES, ids=[case.says for case in CASES])
def test_status(executor: LinuxMachine, case: Case, *, succeeds: bool) -> None:
    """Behind the phase and before the failure, by each executor, with the step that ended; the end is the same.

    A kubelet that never answers would keep the run from its end.
    """
    prepare(executor, case)
    last = note("n") if succeeds else script("n", "exit 3")
    executor.write(lowered([note("m"), last, note("z", POST)]).files)
    assert (executor.run(ENTRY) == 0) is succeeds
    observed = "".join(f", n observed {reason}" for reason in case.observed)
    before = "m started, m succeeded, n started"
    end = (
        f", n succeeded{observed}, z started, z succeeded, complete"
        if succeeds
        else f"{observed}, n failed 3 CommandFailed"
    )
    messages = events(executor)
    assert short(messages) == before + end
    statuses = [message for message in messages if message.state == reportpb.EVENT_STATE_OBSERVED]
    assert {message.phase for message in statuses} <= {planpb.PHASE_BOOTSTRAP}
    assert executor.path(EVENTS).read_text() == executor.path(CONSOLE).read_text()
    assert executor.path(SENTINEL).exists() is succeeds
    if not succeeds:
        (record,) = executor.path("/var/lib/slipway/state/bundle-1").glob("*.failed")
        assert '"state":"EVENT_STATE_FAILED"' in record.read_text().splitlines()[0]


def test_the_phase_ends_with_the_sentinel_where_nothing_is_behind_it(executor: LinuxMachine) -> None:
    """A plan whose last step is of the phase has the events before the success; other phases have none."""
    prepare(executor, Case("", ("200",), (), ()))
    executor.write(lowered([note("a", PRE), note("m")]).files)
    assert executor.run(ENTRY) == 0
    assert short(events(executor)).endswith("a succeeded, m started, m succeeded, m observed KubeletHealthy, complete")


def test_a_later_boot_observes_nothing(executor: LinuxMachine) -> None:
    """What has been done before is over: the success is reported again, and nothing waits for a kubelet."""
    prepare(executor, Case("", ("200",), (), ()))
    executor.write(lowered([note("m")]).files)
    assert executor.run(ENTRY) == 0
    executor.boot()
    assert executor.run(ENTRY) == 0
    assert short(events(executor)).count("observed") == 1
    assert short(events(executor)).endswith("complete, complete")


def test_a_machine_without_a_client_says_nothing_of_the_kubelet(machine: LinuxMachine) -> None:
    """The runner does not guess: without curl and wget the kubelet is not asked."""
    if machine.shell == "busybox":
        pytest.skip("it has wget built in")
    prepare(machine, Case("", ("200",), (KUBELET,), ()))
    for name in ("curl", "wget"):
        machine.fake(name, "exit 127")
    machine.write(lowered([script("m", "exit 3")]).files)
    assert machine.run(ENTRY) == 1
    assert short(events(machine)) == "m started, m observed ContainerRuntimeNotRunning, m failed 3 CommandFailed"
