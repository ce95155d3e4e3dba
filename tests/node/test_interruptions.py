"""Machines that go down in the middle of a phase: the next boot goes on with what was cut, and repeats nothing else.

A power cut ends everything at once. An orderly reboot is the harder one: services that a step needs end before it, and
cloud-init leaves alone what it has started.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.node.harbour import COUNT, LATER, SECONDS, Harbour, count, failure, script
from tools.node.machine import SENTINEL, FirstBoot, Machine

pytestmark = [
    pytest.mark.xdist_group("node"),
    pytest.mark.timeout(1200),
    pytest.mark.usefixtures("switched_off"),
]

ONCE = f"{COUNT.format('held')}; [ $(wc -l </var/count-held) != 1 ]"
"""Succeeds from the second run on."""
HELD = script(f"{ONCE} || exec sleep 600")
GATE = f"""\
[Service]
ExecStartPre=/bin/sh -c 'ls /var/lib/slipway/state/*/70-sysctls || exit 0; {ONCE.replace("$", "$$")} || exec sleep 600'
"""
SPECS: Mapping[str, dict[str, Any]] = {
    # The step that starts containerd anew waits for it.
    "prepare": {
        "os": {
            "containerd": {"sandboxImage": "registry.k8s.io/pause:3.10.1"},
            "files": [
                {"path": "/etc/systemd/system/containerd.service.d/99-gate.conf", "content": {"text": GATE}},
                {"path": "/etc/appended", "append": True, "content": {"text": "one\n"}},
            ],
        }
    },
    "pre": {"commands": {"pre": [script(COUNT.format("before")), HELD]}},
    # kubeadm looks for a control plane that is not there yet.
    "bootstrap": {"kubernetes": {"discovery": {"token": {"endpoint": f"{LATER}:6443"}}}},
    "post": {"commands": {"pre": [script(COUNT.format("before"))], "post": [HELD]}},
}
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


def cut(machine: Machine) -> None:
    """Take its power away, and switch it on again."""
    machine.cut_power()
    machine.boot()


def done(machine: Machine) -> dict[str, int]:
    """When each step was done that was."""
    state = machine.disk / "var/lib/slipway/state"
    return {path.name: path.stat().st_mtime_ns for path in state.glob("*/*") if path.suffix not in {".failed", ".stop"}}


def held(machine: Machine, phase: str) -> bool:
    """Whether it is in the middle of the phase."""
    if phase == "bootstrap":
        return machine.run(["pgrep", "-x", "kubeadm"]).status == 0
    return count(machine, "held") == 1


@pytest.mark.parametrize(
    ("phase", "ending", "by"),
    [
        ("prepare", cut, FirstBoot.CLOUD_INIT),
        ("prepare", cut, FirstBoot.IGNITION),
        ("prepare", Machine.reboot, FirstBoot.CLOUD_INIT),
        ("prepare", Machine.reboot, FirstBoot.IGNITION),
        ("pre", cut, FirstBoot.CLOUD_INIT),
        ("pre", Machine.reboot, FirstBoot.CLOUD_INIT),
        ("pre", Machine.reboot, FirstBoot.IGNITION),
        ("bootstrap", cut, FirstBoot.IGNITION),
        ("bootstrap", Machine.reboot, FirstBoot.CLOUD_INIT),
        ("bootstrap", Machine.reboot, FirstBoot.IGNITION),
        ("post", cut, FirstBoot.IGNITION),
        ("post", Machine.reboot, FirstBoot.CLOUD_INIT),
    ],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_the_next_boot_goes_on_in_the_same_phase(
    harbour: Harbour, phase: str, ending: Callable[[Machine], None], by: FirstBoot
) -> None:
    """What was interrupted runs again, nothing that was done does, and in the end it is a success."""
    machine = harbour.worker(f"{phase}-{ending.__name__}-{by}", by=by, **SPECS[phase])
    machine.wait_until(lambda: held(machine, phase), f"{phase} did not begin", timeout=SECONDS)
    before = done(machine)
    assert not machine.exists(SENTINEL)
    ending(machine)
    if phase == "bootstrap":
        harbour.control_plane.run(["ip", "address", "replace", f"{LATER}/24", "dev", "eth0"])
    machine.wait_sentinel(timeout=SECONDS)
    harbour.control_plane.run(["ip", "address", "delete", f"{LATER}/24", "dev", "eth0"])
    assert before.items() < done(machine).items()
    if phase in {"pre", "post"}:
        assert (count(machine, "before"), count(machine, "held")) == (1, 2)
    if phase == "prepare":
        assert machine.run(["cat", "/etc/appended"]).output == "one\n"
    harbour.wait_joined(machine.name)


def test_nothing_starts_while_the_machine_goes_down(harbour: Harbour) -> None:
    """A step ends because of the shutdown: kubeadm, behind it, starts on the next boot, when its services are there."""
    waits = script(f"{ONCE} || while systemctl -q is-active containerd; do sleep 0.1; done")
    states = script("systemctl is-system-running >>/var/states || true")
    unit = {"name": "slow-end.service", "enabled": True, "contents": SLOW_END}
    machine = harbour.worker("going-down", commands={"pre": [waits, states]}, os={"systemdUnits": [unit]})
    machine.wait_until(lambda: held(machine, "pre"), "it did not begin", timeout=SECONDS)
    machine.reboot()
    machine.wait_sentinel(timeout=SECONDS)
    assert count(machine, "held") == 1
    states_seen = machine.run(["cat", "/var/states"]).output.split()
    assert len(states_seen) == 1
    assert states_seen != ["stopping"]
    harbour.wait_joined(machine.name)


@pytest.mark.parametrize("ending", [cut, Machine.reboot], ids=["power cut", "reboot"])
def test_kubeadm_that_had_begun_to_join_is_no_success(harbour: Harbour, ending: Callable[[Machine], None]) -> None:
    """Kubeadm is not made to be repeated: what it says at the second boot is recorded, and no sentinel is written."""
    machine = harbour.worker(f"kubeadm-{ending.__name__}")
    begun = machine.disk / "etc/kubernetes/bootstrap-kubelet.conf"
    machine.wait_until(begun.exists, "kubeadm did not begin", timeout=SECONDS)
    ending(machine)
    told, _ = failure(machine)
    assert told["step"] == "20-kubeadm"


@pytest.mark.parametrize(
    ("ending", "by"),
    [(cut, FirstBoot.CLOUD_INIT), (cut, FirstBoot.IGNITION), (Machine.reboot, FirstBoot.CLOUD_INIT)],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_the_sentinel_comes_back(harbour: Harbour, ending: Callable[[Machine], None], by: FirstBoot) -> None:
    """Nothing runs again, the sentinel is there again, and so is the kubelet."""
    machine = harbour.worker(f"after-{ending.__name__}-{by}", by=by, commands={"post": [script(COUNT.format("post"))]})
    machine.wait_sentinel(timeout=SECONDS)
    ending(machine)
    machine.wait_sentinel(timeout=SECONDS)
    assert count(machine, "post") == 1

    def active() -> bool:
        return machine.run(["systemctl", "is-active", "kubelet"]).output.strip() == "active"

    machine.wait_until(active, "no kubelet", timeout=60)
