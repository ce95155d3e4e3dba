"""Machines on which something goes wrong: no success is told that was none, no step runs twice, and it is said what."""

import json

import pytest

from tests.node import documents
from tests.node.harbour import COUNT, SECONDS, count, failure, script
from tools.node import addresses
from tools.node.machine import SENTINEL, FirstBoot

pytestmark = [
    pytest.mark.xdist_group("node"),
    pytest.mark.timeout(600),
    pytest.mark.usefixtures("switched_off"),
]

NOWHERE = "10.77.0.250:6443"
SHORT = {"discovery": "8s", "kubernetesApi": "8s", "tlsBootstrap": "20s"}


@pytest.mark.parametrize("by", FirstBoot, ids=str)
def test_a_failing_command_before_ends_it(harbour, by):
    """Nothing runs after it, also not at the next boot; the tail is in the record and not on the serial line."""
    fails = script(COUNT.format("pre"), "echo last words", "exit 7")
    before, behind = script(COUNT.format("first")), script(COUNT.format("never"))
    machine = harbour.worker(f"pre-{by}", by=by, commands={"pre": [before, fails, behind]})
    told, tail = failure(machine)
    assert (told["phase"], told["exit"]) == ("pre", 7)
    assert tail == "last words\n"
    assert "last words" not in machine.serial()
    machine.reboot()
    machine.wait_running()
    assert not machine.exists(SENTINEL)
    assert [count(machine, name) for name in ("first", "pre", "never")] == [1, 1, 0]
    assert not harbour.joined(machine.name)


def test_redacted_output_is_in_no_record(harbour):
    """A command that says so leaves its status and nothing of what it printed."""
    fails = {**script("echo pass-word-4711", "exit 3"), "redactOutput": True}
    told, tail = failure(harbour.worker("redacted", commands={"pre": [fails]}))
    assert told["exit"] == 3
    assert tail == ""
    assert "pass-word-4711" not in harbour.place.machines["redacted"].serial()


def test_a_failing_command_before_is_passed_over_where_the_policy_says_so(harbour):
    """As today's provider does on cloud-init: the rest runs, and the sentinel tells of kubeadm alone."""
    policy = {"onPreFailure": "Continue", "sentinel": "AfterBootstrap"}
    machine = harbour.worker("legacy", commands={"pre": [script("exit 7")]}, execution=policy)
    machine.wait_until(lambda: machine.exists(SENTINEL), "no sentinel", timeout=SECONDS)
    assert json.loads(machine.failures()[0].splitlines()[0])["exit"] == 7
    harbour.wait_joined(machine.name)


def test_a_failing_command_after_is_no_success(harbour):
    """The node has joined, but what the user wanted of it is not done."""
    machine = harbour.worker("post", commands={"post": [script("exit 9")]})
    told, _ = failure(machine)
    assert (told["phase"], told["exit"]) == ("post", 9)
    harbour.wait_joined(machine.name)


@pytest.mark.parametrize(
    ("name", "spec", "words"),
    [
        ("preflight", {"os": {"sysctls": [{**documents.FORWARDING, "value": "0"}]}}, "ip_forward"),
        (
            "ca-hash",
            {"kubernetes": {"discovery": {"token": {"caHashes": ["sha256:" + "0" * 64]}}, "timeouts": SHORT}},
            "none of the public keys",
        ),
        (
            "unreachable",
            {"kubernetes": {"discovery": {"token": {"endpoint": NOWHERE}}, "timeouts": SHORT}},
            NOWHERE.partition(":")[0],
        ),
    ],
    ids=["kubeadm's preflight", "wrong CA hash", "unreachable endpoint"],
)
def test_a_failing_kubeadm_is_told_with_its_own_words(harbour, name, spec, words):
    """Phase, step and status, and the end of what kubeadm said."""
    machine = harbour.worker(name, **spec)
    told, tail = failure(machine)
    assert (told["phase"], told["step"], told["exit"]) == ("bootstrap", "20-kubeadm", 1)
    assert words in tail
    assert not harbour.joined(machine.name)


def test_an_expired_token_joins_nobody(harbour):
    """The token was good for a second; kubeadm says so, the record has it, and the token itself is in neither."""
    created = harbour.control_plane.run(["kubeadm", "token", "create", "--ttl=1s"]).output.strip()
    gone = lambda: created not in harbour.control_plane.run(["kubeadm", "token", "list"]).output  # noqa: E731
    harbour.control_plane.wait_until(gone, "the token is still there", timeout=60)
    kubernetes = {"discovery": {"token": {"token": {"value": created}}}, "timeouts": SHORT}
    machine = harbour.worker("expired", kubernetes=kubernetes)
    told, tail = failure(machine)
    assert told["step"] == "20-kubeadm"
    assert "token" in tail
    assert created not in tail
    assert not harbour.joined(machine.name)


def test_a_full_disk_is_no_success(harbour):
    """A step fills the disk, so that kubeadm cannot write to /etc: no sentinel, and the serial line still tells."""
    machine = harbour.worker(
        "full", disk_size=96 << 20, commands={"pre": [script("dd if=/dev/zero of=/etc/filler bs=64k || true")]}
    )
    machine.wait_running(timeout=SECONDS)
    machine.wait_until(lambda: '"step":"20-kubeadm"' in machine.serial(), "no serial line", timeout=60)
    assert not machine.exists(SENTINEL)
    assert not harbour.joined(machine.name)


def test_a_step_that_reboots_goes_on_behind_itself(harbour):
    """The step says so: it runs once, the machine boots again, the rest follows, and only then the sentinel."""
    commands = {"pre": [{**script(COUNT.format("reboot")), "reboot": True}], "post": [script(COUNT.format("post"))]}
    machine = harbour.worker("reboots", commands=commands)
    machine.wait_reboot(1, timeout=SECONDS)
    machine.wait_sentinel(timeout=SECONDS)
    assert (machine.boots, count(machine, "reboot"), count(machine, "post")) == (2, 1, 1)
    assert addresses.machine(machine.number) == machine.address
