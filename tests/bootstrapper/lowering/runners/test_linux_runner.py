"""What executes steps on Linux, for real: the runner in dash, bash and busybox, and machineadm."""

import json

import pytest

from slipway.v1alpha1 import plan_pb2 as planpb
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine, fifo, install, ran
from tests.bootstrapper.lowering.runners.plans import (
    BOOTSTRAP,
    POST,
    PRE,
    PREPARE,
    SENTINEL,
    STATE,
    lowered,
    note,
    program,
    script,
)

STOP, CONTINUE = planpb.FAILURE_POLICY_STOP, planpb.FAILURE_POLICY_CONTINUE
EARLY, LAST = planpb.SENTINEL_TIME_AFTER_BOOTSTRAP, planpb.SENTINEL_TIME_LAST
CLOUD_CONFIG = planpb.ExecutionPolicy(
    on_pre_failure=CONTINUE, on_bootstrap_failure=CONTINUE, on_post_failure=CONTINUE, sentinel=EARLY
)
IGNITION = planpb.ExecutionPolicy(on_pre_failure=STOP, on_bootstrap_failure=STOP, on_post_failure=STOP, sentinel=EARLY)


@pytest.fixture(name="machine")
def _machine(executor: LinuxMachine) -> LinuxMachine:
    """Every test of this file runs once for each executor."""
    return executor


def test_phases_run_in_order_and_the_sentinel_comes_last(machine: LinuxMachine) -> None:
    """Steps run by phase, then by place; while they run there is no sentinel, and afterwards there is."""
    look = script("look", f"[ ! -e {SENTINEL} ] && echo look >>/ran", POST)
    steps = [look, note("a"), note("b", PRE), note("c", PREPARE), note("d"), note("e", PREPARE)]
    entry = install(machine, lowered(steps))
    assert machine.run(entry) == 0
    assert ran(machine) == ["c", "e", "b", "a", "d", "look"]
    assert machine.path(SENTINEL).read_text().strip() == "success"
    assert machine.path(SENTINEL).stat().st_mode & 0o777 == 0o644
    assert machine.path("/run/cluster-api").stat().st_mode & 0o777 == 0o755


def test_first_failure_stops_everything(machine: LinuxMachine) -> None:
    """Nothing runs behind a failed step, the sentinel is not written, and the runner does not end with 0."""
    entry = install(machine, lowered([note("a", PRE), script("bad", "exit 7"), note("never"), note("nor", POST)]))
    assert machine.run(entry) != 0
    assert ran(machine) == ["a"]
    assert not machine.path("/run/cluster-api").exists()


def test_failure_leaves_a_private_record_and_one_line_on_the_console(machine: LinuxMachine) -> None:
    """The record holds step, phase, exit code and a bounded tail; the console gets the same line and no output."""
    body = "i=0; while [ $i -lt 3000 ]; do echo line-$i; i=$((i + 1)); done; echo last-words >&2; exit 9"
    entry = install(machine, lowered([script("noisy", body, PRE)]))
    machine.run(entry)
    record = machine.path(f"{STATE}/noisy.failed")
    assert record.stat().st_mode & 0o777 == 0o600
    assert record.parent.stat().st_mode & 0o777 == 0o755 & record.parent.stat().st_mode
    assert machine.path("/var/lib/slipway/state").stat().st_mode & 0o777 == 0o700
    first, tail = record.read_text().split("\n", 1)
    event = json.loads(first)
    assert (event["phase"], event["step"], event["exitCode"]) == ("PHASE_PRE", "noisy", 9)
    assert tail.endswith("line-2999\nlast-words\n")
    assert len(tail) == 4096
    assert machine.path("/dev/console").read_text().splitlines()[1:] == [first]


def test_a_step_whose_end_cannot_be_kept_is_a_failure_that_is_told(machine: LinuxMachine) -> None:
    """As on a full disk: no state can be written, the console is told, nothing more runs, and there is no success."""
    entry = install(machine, lowered([script("fills", "rm -r /var/lib/slipway/state", PRE), note("never")]))
    assert machine.run(entry) != 0
    line = json.loads(machine.path("/dev/console").read_text().splitlines()[-1])
    assert (line["phase"], line["step"], line["exitCode"]) == ("PHASE_PRE", "fills", 74)
    assert ran(machine) == []
    assert not machine.path("/run/cluster-api").exists()


def test_output_of_a_redacted_step_is_kept_nowhere(machine: LinuxMachine) -> None:
    """A step with redact_output fails with a record that has no tail; no file of the machine holds its output."""
    entry = install(
        machine,
        lowered([script("quiet", "printf 's3cr%st\\n' e; printf 's3cr%st\\n' e >&2; exit 3", redact_output=True)]),
    )
    process = machine.start(entry)
    out, err = process.communicate(timeout=60)
    assert b"s3cret" not in out + err
    assert json.loads(machine.path(f"{STATE}/quiet.failed").read_text())["exitCode"] == 3
    kept = [path for top in ("var", "run", "tmp", "dev") for path in machine.path(top).rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if not path.is_char_device() and b"s3cret" in path.read_bytes()]


def test_steps_write_nothing_to_the_runners_own_output(machine: LinuxMachine) -> None:
    """A first-boot system that copies output to the console shows nothing of a step."""
    entry = install(machine, lowered([script("talk", "echo words; echo more >&2")]))
    assert machine.start(entry).communicate(timeout=60) == (b"", b"")


def test_a_finished_run_is_never_repeated_and_its_sentinel_comes_back(machine: LinuxMachine) -> None:
    """Started again, at once or after a reboot, the runner runs no step, restores the sentinel and ends with 0."""
    entry = install(machine, lowered([note("a"), note("b", POST)]))
    assert [machine.run(entry), machine.run(entry)] == [0, 0]
    machine.boot()
    assert machine.run(entry) == 0
    assert ran(machine) == ["a", "b"]
    assert machine.path(SENTINEL).exists()


def test_another_bundle_starts_from_the_beginning(machine: LinuxMachine) -> None:
    """State belongs to a bundle: an image made of a bootstrapped machine does not count as bootstrapped."""
    assert machine.run(install(machine, lowered([note("a")]))) == 0
    machine.boot()
    machine.path("/var/lib/slipway/plan").write_text("bundle-2\na bootstrap\n-\n")
    assert machine.run(["sh", "/var/lib/slipway/run"]) == 0
    assert ran(machine) == ["a", "a"]


def test_retries_are_ten_seconds_apart_and_bounded(machine: LinuxMachine) -> None:
    """A step with two retries is tried three times; one that succeeds at last leaves no record."""
    works = script("works", "echo works >>/ran; [ $(wc -l </ran) -ge 3 ]", PRE, retries=2)
    fails = script("fails", "echo fails >>/ran; exit 1", retries=1)
    entry = install(machine, lowered([works, fails]))
    assert machine.run(entry) != 0
    assert ran(machine) == ["works"] * 3 + ["fails"] * 2
    pauses = [call for call in machine.calls if call.startswith("sleep")]
    assert pauses == (["sleep 10"] * 3 if machine.agent is None else [])
    assert not machine.path(f"{STATE}/works.failed").exists()


def test_a_step_over_its_time_is_killed_and_has_failed(machine: LinuxMachine) -> None:
    """A step that takes longer than its timeout ends with a failure, and so does everything."""
    fifo(machine, "/forever")
    slow = script("slow", "read x </forever", retries=0)
    slow.command.timeout.FromMilliseconds(300)
    entry = install(machine, lowered([slow, note("never")]))
    assert machine.run(entry) != 0
    assert json.loads(machine.path(f"{STATE}/slow.failed").read_text().splitlines()[0])["exitCode"] in (124, 143)
    assert ran(machine) == []


POLICIES = [
    ("native: a failed pre command stops", None, "pre", ["pre"], False),
    ("native: a failed post command keeps the sentinel away", None, "post", ["pre", "boot", "post"], False),
    ("cloud-config: pre commands are independent", CLOUD_CONFIG, "pre", ["pre", "boot", "post", "late"], True),
    (
        "cloud-config: post commands run after a failed bootstrap",
        CLOUD_CONFIG,
        "boot",
        ["pre", "boot", "post", "late"],
        False,
    ),
    ("cloud-config: a failing post command is invisible", CLOUD_CONFIG, "post", ["pre", "boot", "post", "late"], True),
    ("ignition: a failed pre command stops", IGNITION, "pre", ["pre"], False),
    ("ignition: a failed bootstrap stops", IGNITION, "boot", ["pre", "boot"], False),
    ("ignition: the sentinel stands before post commands", IGNITION, "post", ["pre", "boot", "post"], True),
    (
        "a failed bootstrap that does not stop has no late sentinel either",
        planpb.ExecutionPolicy(on_bootstrap_failure=CONTINUE, sentinel=LAST),
        "boot",
        ["pre", "boot", "post", "late"],
        False,
    ),
]


@pytest.mark.parametrize(
    ("reason", "policy", "failing", "expected", "sentinel"), POLICIES, ids=[row[0] for row in POLICIES]
)
def test_legacy_policies(  # noqa: PLR0913, PLR0917  # each is a fact of its own
    machine: LinuxMachine,
    reason: str,
    policy: planpb.ExecutionPolicy | None,
    failing: str,
    expected: list[str],
    sentinel: bool,
) -> None:
    """What runs after a failure, and whether the sentinel is there, is as the imported format has it."""
    phases = {"pre": PRE, "boot": BOOTSTRAP, "post": POST, "late": POST}
    steps = [script(name, f"echo {name} >>/ran; [ {name} != {failing} ]", phase) for name, phase in phases.items()]
    entry = install(machine, lowered(steps, policy))
    complete = sentinel and "late" in expected
    assert (machine.run(entry) == 0) == complete, reason
    assert ran(machine) == expected, reason
    assert machine.path(SENTINEL).exists() == sentinel, reason
    assert machine.path(f"{STATE}/{failing}.failed").exists()
    machine.boot()
    assert (machine.run(entry) == 0) == complete, reason
    assert ran(machine) == expected, reason
    assert machine.path(SENTINEL).exists() == sentinel, reason


HOSTILE = [
    "plain",
    "two words",
    "it's",
    'a "quote"',
    "$HOME $(touch /pwned) `touch /pwned`",
    "line one\nline two",
    "semi; touch /pwned",
    "*",
    "~root",
    "-n",
    "A=b",
    "back\\slash\\",
    "ünïcode 漢字 🚀",
    "\t tab ",
    "",
    "#comment",
    "{{ jinja }} ${x}",
]


def test_hostile_arguments_arrive_as_they_are(machine: LinuxMachine) -> None:
    """Every argument reaches the program byte for byte, and no shell interprets any of it."""
    path = machine.path("/fake/witness")
    path.write_text('#!/bin/sh\nfor a in "$@"; do printf "%s\\0" "$a"; done >>/arguments\n')
    path.chmod(0o755)
    assert machine.run(install(machine, lowered([program("hostile", "/fake/witness", *HOSTILE)]))) == 0
    assert machine.path("/arguments").read_bytes() == b"".join(word.encode() + b"\0" for word in HOSTILE)
    assert not machine.path("/pwned").exists()


def test_a_program_is_never_taken_for_a_word_of_the_shell(machine: LinuxMachine) -> None:
    """Names of builtins and reserved words start programs of that name."""
    for name in ("exit", "if", "A=b"):
        machine.fake(name)
    steps = [program("a", "exit", "1"), program("b", "if", "x"), program("c", "A=b")]
    assert machine.run(install(machine, lowered(steps))) == 0
    assert [call for call in machine.calls if call[0] in "eiA"] == ["exit 1", "if x", "A=b "]


def test_a_truncated_manifest_never_ends_in_success(machine: LinuxMachine) -> None:
    """When the line of the sentinel is missing there is no sentinel, and the exit code is not 0."""
    entry = install(machine, lowered([note("a")]))
    plan = machine.path("/var/lib/slipway/plan")
    plan.write_text(plan.read_text().removesuffix("-\n"))
    assert machine.run(entry) != 0
    assert not machine.path(SENTINEL).exists()


def test_steps_see_an_ordinary_environment(machine: LinuxMachine) -> None:
    """A step works in /, makes files that others may read, and has nothing on its standard input."""
    entry = install(machine, lowered([script("a", "pwd >/where; cat >>/where; : >/made")]))
    assert machine.run(["sh", "-c", 'cd /tmp && exec "$@"', "sh", *entry]) == 0
    assert machine.path("/where").read_text() == "/\n"
    assert machine.path("/made").stat().st_mode & 0o777 == 0o644


def test_common_case_is_small() -> None:
    """Runner and step data of a kubeadm join with two steps of preparation take at most 2.6 kB."""
    join = program("kubeadm-join", "kubeadm", "join", "--config", "/run/kubeadm/kubeadm-join-config.yaml")
    steps = [program("modules", "modprobe", "-a", "overlay", "br_netfilter", phase=PREPARE)]
    steps += [program("sysctl", "sysctl", "--system", phase=PREPARE), join]
    files = lowered(steps).files
    assert (
        sum(len(segment.data) for file in files for segment in file.content.segments) <= 2660 - 30
    )  # a longer bundle id
