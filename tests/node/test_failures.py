"""Machines on which something goes wrong: no success is told that was none, no step runs twice, and it is said what."""

import json
from typing import Any

import pytest

from tests.node import documents
from tests.node.harbour import COUNT, SECONDS, Harbour, count, failure, script, state, told_failure
from tools.node import addresses
from tools.node.first_disk import FirstBoot
from tools.node.machine import SENTINEL, Machine

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1200)]

NOWHERE = "10.77.0.250:6443"
SHORT = {"engineOptions": {"kubeadm": {"timeouts": {"discovery": "8s", "kubernetesApi": "8s"}}}}
SHORT_JOIN = {"tlsBootstrap": "20s"}


def the_same_after_a_reboot(machine: Machine) -> None:
    """A failure is final: the next boot runs no step again, tells nothing anew, and makes no success of it."""
    before, told = state(machine), told_failure(machine)
    machine.reboot()
    assert told_failure(machine) == told
    assert state(machine) == before


@pytest.mark.parametrize("by", FirstBoot, ids=str)
def test_a_failing_command_before_ends_it(harbour: Harbour, by: FirstBoot) -> None:
    """Nothing runs after it, also not at the next boot; the tail is in the record and not on the serial line."""
    fails = script(COUNT.format("pre"), "echo last words", "exit 7")
    before, behind = script(COUNT.format("first")), script(COUNT.format("never"))
    machine = harbour.worker(f"pre-{by}", by=by, commands={"pre": [before, fails, behind]})
    told, tail = failure(machine)
    assert (told["phase"], told["exitCode"]) == ("PHASE_PRE", 7)
    assert tail == "last words\n"
    assert "last words" not in machine.serial()
    the_same_after_a_reboot(machine)
    assert [count(machine, name) for name in ("first", "pre", "never")] == [1, 1, 0]
    assert not harbour.joined(machine.name)


def test_failing_commands_before_are_passed_over_where_the_policy_says_so(harbour: Harbour) -> None:
    """As today's provider does on cloud-init: the rest runs, and the sentinel tells of kubeadm alone.

    Of a command that says so, the status is recorded and nothing of what it printed.
    """
    quiet = {**script("echo pass-word-4711", "exit 3"), "redactOutput": True}
    policy = {"onPreFailure": "Continue", "sentinel": "AfterBootstrap"}
    machine = harbour.worker("legacy", commands={"pre": [quiet, script("echo words", "exit 7")]}, execution=policy)
    machine.wait_until(lambda: machine.exists(SENTINEL), "no sentinel", timeout=SECONDS)
    told = [record.partition("\n") for record in machine.failures()]
    assert [(json.loads(line)["exitCode"], tail) for line, _, tail in told] == [(3, ""), (7, "words\n")]
    assert "pass-word-4711" not in machine.serial()
    harbour.wait_joined(machine.name)


def test_a_failing_command_after_is_no_success(harbour: Harbour) -> None:
    """The node has joined, but what the user wanted of it is not done; the next boot is that of a node, too."""
    fails, behind = script(COUNT.format("post"), "exit 9"), script(COUNT.format("never"))
    machine = harbour.worker("post", commands={"post": [fails, behind]})
    told, _ = failure(machine)
    assert (told["phase"], told["exitCode"]) == ("PHASE_POST", 9)
    harbour.wait_joined(machine.name)
    the_same_after_a_reboot(machine)
    assert [count(machine, name) for name in ("post", "never")] == [1, 0]
    active = ["systemctl", "is-active", "--quiet", "kubelet"]
    machine.wait_until(lambda: machine.run(active).status == 0, "no kubelet", timeout=60, asks=True)


@pytest.mark.parametrize(
    ("name", "spec", "words"),
    [
        ("preflight", {"os": {"sysctls": [{**documents.FORWARDING, "value": "0"}]}}, "ip_forward"),
        (
            "ca-hash",
            {
                "kubernetes": {"discovery": {"token": {"caHashes": ["sha256:" + "0" * 64]}}, "timeouts": SHORT_JOIN},
                **SHORT,
            },
            "none of the public keys",
        ),
        (
            "unreachable",
            {"kubernetes": {"discovery": {"token": {"endpoint": NOWHERE}}, "timeouts": SHORT_JOIN}, **SHORT},
            NOWHERE.partition(":")[0],
        ),
    ],
    ids=["kubeadm's preflight", "wrong CA hash", "unreachable endpoint"],
)
def test_a_failing_kubeadm_is_told_with_its_own_words(
    harbour: Harbour, name: str, spec: dict[str, Any], words: str
) -> None:
    """Phase, step and status, and the end of what kubeadm said; the next boot does not start it again."""
    machine = harbour.worker(name, **spec)
    told, tail = failure(machine)
    assert (told["phase"], told["step"], told["exitCode"]) == ("PHASE_BOOTSTRAP", "20-kubeadm", 1)
    assert words in tail
    the_same_after_a_reboot(machine)
    assert not harbour.joined(machine.name)


def test_an_expired_token_joins_nobody(harbour: Harbour) -> None:
    """The token was good for a second; kubeadm says so, the record has it, and the token itself is in neither."""
    created = harbour.control_plane.run(["kubeadm", "token", "create", "--ttl=1s"]).output.strip()
    gone = lambda: created not in harbour.control_plane.run(["kubeadm", "token", "list"]).output  # noqa: E731  # only the next line uses it
    harbour.control_plane.wait_until(gone, "the token is still there", timeout=SECONDS, asks=True)
    kubernetes = {"discovery": {"token": {"token": {"value": created}}}, "timeouts": SHORT_JOIN}
    machine = harbour.worker("expired", kubernetes=kubernetes, **SHORT)
    told, tail = failure(machine)
    assert told["step"] == "20-kubeadm"
    assert "token" in tail
    assert created not in tail
    assert not harbour.joined(machine.name)


def test_a_full_disk_is_no_success(harbour: Harbour) -> None:
    """A step fills the disk, so that kubeadm cannot write to /etc: no sentinel, and the serial line still tells.

    The next boot, on the disk that is still full, starts nothing again, and makes no success of it.
    """
    machine = harbour.worker(
        "full", disk_size=96 << 20, commands={"pre": [script("dd if=/dev/zero of=/etc/filler bs=64k || true")]}
    )
    line = '"step":"20-kubeadm","state":"EVENT_STATE_FAILED"'
    machine.wait_until(lambda: line in machine.serial(), "no serial line", timeout=SECONDS)
    machine.wait_running(timeout=SECONDS)
    before = state(machine)
    machine.reboot()
    machine.wait_running(timeout=SECONDS)
    assert machine.serial().count(line) == 1
    assert state(machine) == before
    assert not machine.exists(SENTINEL)
    assert not harbour.joined(machine.name)


def test_a_step_that_reboots_goes_on_behind_itself(harbour: Harbour) -> None:
    """The step says so: it runs once, the machine boots again, the rest follows, and only then the sentinel."""
    commands = {"pre": [{**script(COUNT.format("reboot")), "reboot": True}], "post": [script(COUNT.format("post"))]}
    machine = harbour.worker("reboots", commands=commands)
    machine.wait_reboot(1, timeout=SECONDS)
    machine.wait_sentinel(timeout=SECONDS)
    assert (machine.boots, count(machine, "reboot"), count(machine, "post")) == (2, 1, 1)
    assert addresses.machine(machine.number) == machine.address
