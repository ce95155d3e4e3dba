"""A control plane, and workers that boot by a spec of their own, for tests of what goes wrong on the way."""

import json
from typing import Any

import pytest

from tests.node import documents
from tests.node.rendering import Rendering
from tools.engines.failures import EngineBroken
from tools.node import site
from tools.node.machine import SENTINEL, FirstBoot, Machine

SECONDS = 240.0
COUNT = "echo run >>/var/count-{}"
LATER = "10.77.0.240"
"""An address that the control plane answers for, once it has it."""


class Harbour:
    """A control plane that machines can join, and a way to describe and boot such machines."""

    def __init__(self, place: site.Site) -> None:
        self.place = place
        self.rendering = Rendering(self._documents("unused"))
        self.control_plane = place.machine("cp")

    def _documents(self, name: str, **spec: Any) -> str:
        machines = {"cp": ("Init", "cp"), name: ("Worker", "worker")}
        return documents.text(
            documents.cluster(machines, name="harbour"), _control_plane(), documents.config("worker", **spec)
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


def _control_plane() -> dict[str, Any]:
    return documents.config("cp", kubernetes={"controlPlane": {"apiServerSans": [LATER]}})


@pytest.fixture(scope="module")
def harbour(engine) -> Any:
    """A control plane that has its sentinel."""
    engine("node-1.34")
    with site.opened() as place:
        opened = Harbour(place)
        opened.control_plane.boot(opened.rendering.user_data("cp"))
        opened.control_plane.wait_sentinel(timeout=SECONDS)
        yield opened


@pytest.fixture
def switched_off(harbour) -> Any:
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
    """A command of lines for a shell."""
    return {"argv": ["sh", "-c", "\n".join(lines)]}
