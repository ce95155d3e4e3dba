"""Machines of k0s that join a cluster with another authority: what goes wrong is named, and ends.

That they become nodes is shown by the matrix (``test_matrix``).
"""

from typing import Any

import pytest

from tests.node import documents, k0s
from tests.node.harbour import SECONDS, failure
from tests.node.rendering import Rendering
from tools.node.first_disk import FirstBoot
from tools.node.machine import Machine
from tools.node.site import Site

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1200)]

AT_ONCE = 1  # with three machines
FLAVOUR = "1.34-k0s"
MEMBERS = {"one": ("Init", "cp"), "two": ("ControlPlane", "cp"), "three": ("Worker", "worker")}


def text(**joining: Any) -> str:
    """The documents of a cluster; `joining` is what machines that join say of Kubernetes besides."""
    cluster = documents.cluster(MEMBERS, name="k0s")
    return documents.text(cluster, *(k0s.config(name, os={}, kubernetes=joining) for name in ("cp", "worker")))


def boot(place: Site, rendering: Rendering, name: str, by: FirstBoot) -> Machine:
    """A machine that has its user data."""
    machine = place.machine(name, flavour=FLAVOUR)
    machine.boot(rendering.user_data(name, by), by=by)
    return machine


def test_machines_with_another_authority_fail_in_time(place: Site) -> None:
    """k0s alone would try for ever; here the step says why, and k0s is left switched off."""
    entry = boot(place, Rendering(text()), "one", FirstBoot.CLOUD_INIT)
    entry.wait_sentinel(timeout=SECONDS)
    stranger = Rendering(text(timeouts={"tlsBootstrap": "20s", "controlPlaneComponent": "20s"}))
    joining = {name: boot(place, stranger, name, FirstBoot.IGNITION) for name in ("two", "three")}
    for name, machine in joining.items():
        reported, tail = failure(machine)
        assert (reported["phase"], reported["step"], reported["exitCode"]) == ("PHASE_BOOTSTRAP", "20-k0s", 3), tail
        assert "not signed by the authority" in tail
        unit = "k0scontroller" if name == "two" else "k0sworker"
        assert machine.run(["systemctl", "is-enabled", unit]).output.strip() == "disabled"
        assert machine.run(["systemctl", "is-active", unit]).output.strip() != "active"
        assert entry.run(["kubectl", "get", "node", name]).status != 0
