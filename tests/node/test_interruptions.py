"""Machines that go down in the middle of a phase: the next boot goes on with what was cut, and repeats nothing else.

A power cut ends everything at once. An orderly reboot is the harder one: services that a step needs end before it, and
cloud-init leaves alone what it has started.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.node.harbour import COUNT, LATER, SECONDS, Harbour, count, failure, script, state
from tools.node.first_disk import FirstBoot
from tools.node.machine import SENTINEL, Machine

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1200)]

PHASES = ("prepare", "pre", "bootstrap", "post")
SLOW_END = """\
[Unit]
Description=Takes its time when the machine goes down
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
ExecStop=/bin/sleep 5
[Install]
WantedBy=multi-user.target
"""


def once(name: str) -> str:
    """Shell words that succeed from the second run on."""
    return f"{COUNT.format(name)}; [ $(wc -l </var/count-{name}) != 1 ]"


def holds(phase: str) -> dict[str, Any]:
    """A command that is in the way of its phase, but only the first time."""
    return script(f"{once(phase)} || exec sleep 600")


# The step that starts containerd anew waits for it.
GATE = f"""\
[Service]
ExecStartPre=/bin/sh -c 'ls /var/lib/slipway/state/*/70-sysctls || exit 0; \
  {once("prepare").replace("$", "$$")} || exec sleep 600'
"""


def held_in_each_phase(later: str) -> dict[str, Any]:
    """A spec of a machine that has to be ended once in each phase."""
    return {
        "os": {
            "containerd": {"sandboxImage": "registry.k8s.io/pause:3.10.1"},
            "files": [
                {"path": "/etc/systemd/system/containerd.service.d/99-gate.conf", "content": {"text": GATE}},
                {"path": "/etc/appended", "append": True, "content": {"text": "one\n"}},
            ],
        },
        "commands": {"pre": [script(COUNT.format("before")), holds("pre")], "post": [holds("post")]},
        # kubeadm looks for a control plane that is not there yet.
        "kubernetes": {"discovery": {"token": {"endpoint": f"{later}:6443"}}},
    }


def cut(machine: Machine) -> None:
    """Take its power away, and switch it on again."""
    machine.cut_power()
    machine.boot()


ENDINGS = {"power cut": cut, "reboot": Machine.reboot}
Ending = Callable[[Machine], None]


def done(machine: Machine) -> dict[str, int]:
    """When each step was done that was."""
    return {name: when for name, when in state(machine).items() if not name.endswith((".failed", ".stop"))}


def held(machine: Machine, phase: str) -> bool:
    """Whether it is in the middle of the phase."""
    if phase == "bootstrap":
        return machine.run(["pgrep", "-x", "kubeadm"]).status == 0
    return count(machine, phase) == 1


@pytest.mark.parametrize("by", FirstBoot, ids=str)
@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_each_next_boot_goes_on_in_the_same_phase(harbour: Harbour, ending: Ending, by: FirstBoot) -> None:
    """Interrupted in each phase, what was cut runs again, nothing that was done does, and in the end it is a success.

    Nor does anything when the machine goes down after that: but the sentinel comes back, and so does the kubelet.
    """
    later = LATER[2 * list(ENDINGS.values()).index(ending) + list(FirstBoot).index(by)]
    machine = harbour.worker(f"{ending.__name__}-{by}", by=by, **held_in_each_phase(later))
    earlier: dict[str, int] = {}
    for phase in PHASES:
        machine.wait_until(
            lambda now=phase: held(machine, now), f"{phase} did not begin", timeout=SECONDS, asks=phase == "bootstrap"
        )
        assert earlier.items() < done(machine).items(), phase
        earlier = done(machine)
        assert not machine.exists(SENTINEL), phase
        ending(machine)
        if phase == "bootstrap":
            harbour.control_plane.run(["ip", "address", "replace", f"{later}/24", "dev", "eth0"])
    machine.wait_sentinel(timeout=SECONDS)
    harbour.wait_joined(machine.name)
    in_the_end = done(machine)
    assert earlier.items() < in_the_end.items()
    counted = [count(machine, name) for name in ("before", "pre", "post")]
    assert counted == [1, 2, 2]
    assert machine.run(["cat", "/etc/appended"]).output == "one\n"

    ending(machine)
    machine.wait_sentinel(timeout=SECONDS)
    assert done(machine) == in_the_end
    assert [count(machine, name) for name in ("before", "pre", "post")] == counted

    def active() -> bool:
        return machine.run(["systemctl", "is-active", "kubelet"]).output.strip() == "active"

    machine.wait_until(active, "no kubelet", timeout=60, asks=True)


def test_nothing_starts_while_the_machine_goes_down(harbour: Harbour) -> None:
    """A step ends because of the shutdown: kubeadm, behind it, starts on the next boot, when its services are there."""
    waits = script(f"{once('held')} || while systemctl -q is-active containerd; do sleep 0.1; done")
    states = script("systemctl is-system-running >>/var/states || true")
    unit = {"name": "slow-end.service", "enabled": True, "contents": SLOW_END}
    machine = harbour.worker("going-down", commands={"pre": [waits, states]}, os={"systemdUnits": [unit]})
    machine.wait_until(lambda: held(machine, "held"), "it did not begin", timeout=SECONDS)
    machine.reboot()
    machine.wait_sentinel(timeout=SECONDS)
    assert count(machine, "held") == 1
    states_seen = machine.run(["cat", "/var/states"]).output.split()
    assert len(states_seen) == 1
    assert states_seen != ["stopping"]
    harbour.wait_joined(machine.name)


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_kubeadm_that_had_begun_to_join_is_no_success(harbour: Harbour, ending: Ending) -> None:
    """Kubeadm is not made to be repeated: what it says at the second boot is recorded, and no sentinel is written."""
    machine = harbour.worker(f"kubeadm-{ending.__name__}")
    begun = machine.disk / "etc/kubernetes/bootstrap-kubelet.conf"
    machine.wait_until(begun.exists, "kubeadm did not begin", timeout=SECONDS)
    ending(machine)
    told, _ = failure(machine)
    assert told["step"] == "20-kubeadm"
