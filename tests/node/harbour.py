"""A control plane, and workers that boot by a spec of their own, for tests of what goes wrong on the way."""

import contextlib
import copy
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from tests.node import documents, metadata
from tests.node.rendering import Rendering
from tools.node import site
from tools.node.first_disk import FirstBoot
from tools.node.machine import SENTINEL, Machine
from tools.oracles import network
from tools.oracles.failures import EngineBroken

SECONDS = 300.0  # for a bootstrap beside others
_CONSOLE_SECONDS = 30.0
COUNT = "echo run >>/var/count-{}"
LATER = tuple(f"10.77.0.{240 + number}" for number in range(4))
"""Addresses that the control plane answers for, once it has them."""


class Harbour:
    """A control plane that machines can join, and a way to describe and boot such machines."""

    def __init__(self, place: site.Site) -> None:
        self.place = place
        self.rendering = Rendering(self._documents("unused"))
        self.control_plane = place.machine("cp")
        self._at_the_desk = threading.Lock()
        self._workers: list[Machine] = []

    @classmethod
    def built(cls, place: site.Site) -> "Harbour":
        """One whose control plane has its sentinel, and whose network has the metadata services of clouds."""
        made = cls(place)
        metadata.serve(place)
        made.control_plane.boot(made.rendering.user_data("cp"))
        made.control_plane.wait_sentinel(timeout=SECONDS)
        return made

    @contextlib.contextmanager
    def berth(self) -> Iterator["Harbour"]:
        """The same for one of several tests at a time: the workers of each are its own, and end with it."""
        mine = copy.copy(self)
        mine._workers = []
        try:
            yield mine
        finally:
            for machine in mine._workers:
                if machine.on:
                    machine.cut_power()

    def _documents(self, name: str, **spec: Any) -> str:
        machines = {"cp": ("Init", "cp"), name: ("Worker", "worker")}
        return documents.text(
            documents.cluster(machines, name="harbour"), _control_plane(), documents.config("worker", **spec)
        )

    def worker(
        self,
        name: str,
        *,
        disk_size: int = 0,
        by: FirstBoot = FirstBoot.CLOUD_INIT,
        sites: Sequence[network.Site] = (),
        **spec: Any,
    ) -> Machine:
        """A worker that boots by a spec of its own; Ignition reaches the sites, once the spec is rendered."""
        made = self._machine(name, disk_size=disk_size, sites=sites)
        return self._boot(made, name, by, text=self._documents(name, **spec))

    def joiner(
        self,
        name: str,
        described: str,
        by: FirstBoot,
        *,
        variables: Mapping[str, str] | None = None,
        text: str,
        **wishes: Any,
    ) -> Machine:
        """A machine that boots as one of those that a text describes, which is about the cluster harbour, too."""
        return self._boot(self._machine(name, **wishes), described, by, text=text, variables=variables)

    def _machine(self, name: str, **wishes: Any) -> Machine:
        with self._at_the_desk:
            self._workers.append(self.place.machine(name, **wishes))
        return self._workers[-1]

    def _boot(
        self, made: Machine, described: str, by: FirstBoot, *, text: str, variables: Mapping[str, str] | None = None
    ) -> Machine:
        with self._at_the_desk:
            rendering = self.rendering.again(text, variables)
            (full,) = (name for name in rendering.names if name.endswith(described))
            user_data = rendering.user_data(full, by)
        made.boot(user_data, by=by)
        return made

    def joined(self, name: str) -> bool:
        """Whether a node of this name is there."""
        return self.control_plane.run(["kubectl", "get", "node", name]).status == 0

    def wait_joined(self, name: str) -> None:
        """Wait until a node of this name is there."""
        self.control_plane.wait_until(lambda: self.joined(name), f"no node {name}", timeout=SECONDS, asks=True)


def _control_plane() -> dict[str, Any]:
    return documents.config("cp", kubernetes={"controlPlane": {"apiServerSans": list(LATER)}})


def failure(machine: Machine) -> tuple[dict[str, Any], str]:
    """What the record of the failed step says, and its tail; the serial line says the same, without the tail."""
    with pytest.raises(EngineBroken):
        machine.wait_sentinel(timeout=SECONDS)
    return told_failure(machine)


def told_failure(machine: Machine) -> tuple[dict[str, Any], str]:
    """The same of a machine that has booted: there is one record and one line, however often it has."""
    machine.wait_running(timeout=SECONDS)
    (record,) = machine.failures()
    line, _, tail = record.partition("\n")
    # The console has it a moment after the disk has.
    machine.wait_until(
        lambda: line in machine.serial(), "no line of the failure on the console", timeout=_CONSOLE_SECONDS
    )
    assert machine.serial().count(line) == 1
    assert not machine.exists(SENTINEL)
    return json.loads(line), tail


def state(machine: Machine) -> dict[str, int]:
    """When each file of the runner's state was written, in nanoseconds: done steps, records, what is final."""
    return {path.name: path.stat().st_mtime_ns for path in (machine.disk / "var/lib/slipway/state").glob("*/*")}


def count(machine: Machine, name: str) -> int:
    """How often a step has run."""
    path = machine.disk / f"var/count-{name}"
    return len(path.read_text().splitlines()) if path.exists() else 0


def script(*lines: str) -> dict[str, Any]:
    """A command of lines for a shell."""
    return {"argv": ["sh", "-c", "\n".join(lines)]}
