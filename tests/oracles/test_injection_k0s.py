"""No value is more than a value on machines of k0s: in its configuration, its unit, and the steps that start it."""

import shlex
from collections.abc import Callable

import pytest
import yaml

from tests.oracles import hostile, ours
from tests.oracles.filling import k0s, render_what_is_accepted
from tests.oracles.machines import given_files
from tests.oracles.readers import strings_of, without
from tools.oracles import cloud_init, ignition
from tools.oracles.machine_state import MachineState
from tools.oracles.sandbox import File

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

SENTINEL = "/run/cluster-api/bootstrap-success.complete"
OF_K0S = {f"K0sOptions.{name}" for name in ("program", "disabled_components", "network_provider", "worker_profile")}
OF_WORKERS = ("spec.kubernetes.node", "spec.engineOptions.k0s.program", "spec.engineOptions.k0s.workerProfile")
MACHINES = {"k0s-0": "k0scontroller.service", "k0s-1": "k0sworker.service"}


def boot(provisioner: str, user_data: bytes, program: str) -> MachineState:
    """Have a machine set up whose k0s is ready at once."""
    before = given_files() | {
        program: File(b"#!/bin/sh\nexit 0\n", 0o755),
        "/var/lib/k0s/kubelet.conf": File(b"ready\n"),
    }
    if provisioner == "cloud-init":
        return cloud_init.run(user_data, extra_files=before)
    return ignition.run(user_data, extra_files=before, start=("slipway-bootstrap.service",))


def command_line(unit: str) -> list[str]:
    """The words of ExecStart, as systemd.service(5) has them read."""
    (line,) = [line.removeprefix("ExecStart=") for line in unit.split("\n") if line.startswith("ExecStart=")]
    return [word.replace("%%", "%").replace("$$", "$") for word in shlex.split(line)]


@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("family", hostile.FAMILIES)
def test_a_hostile_value_is_a_value_of_k0s(
    family: str, machine: str, provisioner: str, engine: Callable[..., None]
) -> None:
    """Refused with its path, or at its place on the machine; nothing is executed, and the bootstrap reaches its end."""
    engine("root-trixie", "ignition")
    question = k0s(machine)
    answer, accepted, refused = render_what_is_accepted(
        question, family, lambda machine_: ours.render(machine_, provisioner, own_secrets=True)
    )
    assert {place.name for place in (*accepted, *refused)} >= OF_K0S
    state = boot(provisioner, answer.user_data, question.subject.spec.engine_options.k0s.program)
    assert (state.status, state.findings) == ("done", ())
    assert state.content(SENTINEL) == b"success\n"
    assert [path for path in state.files if path.startswith("/canary")] == []
    unit = f"/etc/systemd/system/{MACHINES[machine]}"
    # Of the unit only what systemd reads counts: a value as it stands is there, too, where its quotes are forgotten.
    texts = list(strings_of(without(state, ("/var/lib/slipway/", "/run/slipway", "/var/lib/cloud/", unit))))
    words = command_line(state.content(unit).decode())
    assert words[0] == question.subject.spec.engine_options.k0s.program
    texts += words
    wanted = [place for place in accepted if machine == "k0s-0" or place.path.startswith(OF_WORKERS)]
    assert [place.path for place in wanted if not any(place.value in text for text in texts)] == []
    configuration = state.files.get("/etc/k0s/k0s.yaml")
    assert (configuration is None) is (machine == "k0s-1")
    assert configuration is None or isinstance(yaml.safe_load(configuration.content), dict)
