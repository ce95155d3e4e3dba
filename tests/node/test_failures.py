"""Machines on which something goes wrong: no success is told that was none, no step runs twice, and it is said what."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.node import documents
from tests.node.rendering import Rendering
from tools.engines.failures import EngineBroken
from tools.node import addresses, site
from tools.node.machine import SENTINEL, FirstBoot, Machine

pytestmark = [pytest.mark.xdist_group("node"), pytest.mark.timeout(600)]

SECONDS = 240.0
NOWHERE = "10.77.0.250:6443"
SHORT = {"discovery": "8s", "kubernetesApi": "8s", "tlsBootstrap": "20s"}
COUNT = "echo run >>/var/count-{}"


class Harbour:
    """A control plane that machines can join, and a way to describe and boot such machines."""

    def __init__(self, place: site.Site) -> None:
        self.place = place
        self.rendering = Rendering(self._documents("unused"))
        self.control_plane = place.machine("cp")

    def _documents(self, name: str, **spec: Any) -> str:
        machines = {"cp": ("Init", "cp"), name: ("Worker", "worker")}
        return documents.text(
            documents.cluster(machines, name="harbour"), documents.config("cp"), documents.config("worker", **spec)
        )

    def worker(self, name: str, *, disk_size: int = 0, by: FirstBoot = FirstBoot.CLOUD_INIT, **spec: Any) -> Machine:
        """A worker that boots by a spec of its own."""
        machine = self.place.machine(name, disk_size=disk_size)
        machine.boot(self.rendering.again(self._documents(name, **spec)).user_data(name, by), by=by)
        return machine

    def joined(self, name: str) -> bool:
        """Whether a node of this name is there."""
        return self.control_plane.run(["kubectl", "get", "node", name]).status == 0


    def wait_joined(self, name: str) -> None:
        """Wait until a node of this name is there."""
        self.control_plane.wait_until(lambda: self.joined(name), f"no node {name}", timeout=60)


@pytest.fixture(scope="module")
def harbour(engine) -> Any:
    """A control plane that has its sentinel."""
    engine("node-1.34")
    with site.opened() as place:
        opened = Harbour(place)
        opened.control_plane.boot(opened.rendering.user_data("cp"))
        opened.control_plane.wait_sentinel(timeout=SECONDS)
        yield opened


@pytest.fixture(autouse=True)
def _switch_off(harbour) -> Any:
    """The machines of a test end with it."""
    yield
    for machine in harbour.place.machines.values():
        if machine is not harbour.control_plane and machine.on:
            machine.cut_power()


def failure(machine: Machine) -> tuple[dict[str, Any], str]:
    """What the record of the failed step says, and its tail; the serial line says the same, without the tail."""
    with pytest.raises(EngineBroken):
        machine.wait_sentinel(timeout=SECONDS)
    machine.wait_running()
    (record,) = machine.failures()
    line, _, tail = record.partition("\n")
    assert line in machine.serial()
    assert not machine.exists(SENTINEL)
    return json.loads(line), tail


def count(machine: Machine, name: str) -> int:
    """How often a step has run."""
    path = machine.disk / f"var/count-{name}"
    return len(path.read_text().splitlines()) if path.exists() else 0


def script(*lines: str) -> dict[str, Any]:
    return {"argv": ["sh", "-c", "\n".join(lines)]}


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


def waiting(name: str) -> dict[str, Any]:
    """A command that goes on until it is let go."""
    return script(COUNT.format(name), "until [ -e /var/go ]; do sleep 0.2; done")


@pytest.mark.parametrize("by", FirstBoot, ids=str)
@pytest.mark.parametrize("phase", ["pre", "post"])
def test_a_power_cut_in_a_command_repeats_only_that_command(harbour, phase, by):
    """The next boot goes on with the command that was cut, and repeats none that was done; then it is a success."""
    commands = {"pre": [script(COUNT.format("before"))], "post": []}
    commands[phase].append(waiting("cut"))
    machine = harbour.worker(f"cut-{phase}-{by}", by=by, commands=commands)
    machine.wait_until(lambda: count(machine, "cut") == 1, "the command did not begin", timeout=SECONDS)
    assert not machine.exists(SENTINEL)
    machine.cut_power()
    go = machine.disk / "var/go"
    go.touch()
    machine.boot()
    machine.wait_sentinel(timeout=SECONDS)
    assert (count(machine, "before"), count(machine, "cut")) == (1, 2)
    harbour.wait_joined(machine.name)


def test_a_power_cut_in_kubeadm_is_no_success(harbour):
    """Kubeadm is not made to be repeated: what it says at the second boot is recorded, and no sentinel is written."""
    machine = harbour.worker("cut-kubeadm")
    begun = machine.disk / "etc/kubernetes/bootstrap-kubelet.conf"
    machine.wait_until(begun.exists, "kubeadm did not begin", timeout=SECONDS)
    machine.cut_power()
    machine.boot()
    told, _ = failure(machine)
    assert told["step"] == "20-kubeadm"


@pytest.mark.parametrize("by", FirstBoot, ids=str)
def test_a_power_cut_after_the_sentinel_restores_it(harbour, by):
    """Nothing runs again, the sentinel is back, and the node is Ready again."""
    machine = harbour.worker(f"after-{by}", by=by, commands={"post": [script(COUNT.format("post"))]})
    machine.wait_sentinel(timeout=SECONDS)
    machine.cut_power()
    machine.boot()
    machine.wait_sentinel(timeout=SECONDS)
    assert count(machine, "post") == 1
    ready: Callable[[], bool] = lambda: machine.run(["systemctl", "is-active", "kubelet"]).output.strip() == "active"  # noqa: E731
    machine.wait_until(ready, "no kubelet", timeout=60)


def test_a_step_that_reboots_goes_on_behind_itself(harbour):
    """The step says so: it runs once, the machine boots again, the rest follows, and only then the sentinel."""
    commands = {"pre": [{**script(COUNT.format("reboot")), "reboot": True}], "post": [script(COUNT.format("post"))]}
    machine = harbour.worker("reboots", commands=commands)
    machine.wait_reboot(1, timeout=SECONDS)
    machine.wait_sentinel(timeout=SECONDS)
    assert (machine.boots, count(machine, "reboot"), count(machine, "post")) == (2, 1, 1)
    assert addresses.machine(machine.number) == machine.address
