"""No value of a spec is ever more than a value: hostile ones in every string field, on machines that really boot.

What is accepted is on the machine byte for byte, what is not is refused with its path; nothing of it is executed, and
no file is there that nobody asked for.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.contract.errors import SlipwayError
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tests.integration import machines as integration
from tests.oracles import filling, hostile, ours
from tests.oracles.filling import k0s, render_what_is_accepted
from tests.oracles.hostile import Place
from tests.oracles.machines import given_files
from tests.oracles.readers import strings_of, without
from tools.oracles import cloud_init, ignition
from tools.oracles.machine_state import MachineState

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

HERE = Path(__file__).parent
# One process has all of a first-boot system's machines, and fills in the values once.
PROVISIONERS = [
    pytest.param(name, marks=pytest.mark.xdist_group(f"injection-{name}")) for name in ("cloud-init", "ignition")
]
OUR_STATE = ("/var/lib/slipway/", "/run/slipway")
# The user data itself, the runner's data and the word of what made the machine prove nothing of where a value came to.
WHAT_WE_BROUGHT = (*OUR_STATE, "/var/lib/cloud/", "/etc/slipway/bundle.json")
SENTINEL = "/run/cluster-api/bootstrap-success.complete"


def linux() -> MachineQuestion:
    """A machine that asks for nearly everything, and for a value of kubeadm at a place of its own."""
    question = filling.linux()
    value = question.subject.spec.engine_options.kubeadm.machine_values.add(field="etcd.local.peerCertSANs[0]")
    value.value.value = "peer.example.com"
    return question


def within_path(path: str, folder: str) -> bool:
    """Whether a path lies in a folder."""
    return path.startswith(f"{folder}/")


@cache
def boot(provisioner: str, user_data: bytes) -> MachineState:
    """Have a machine set up, with its entry point run."""
    given = given_files() | integration.given_files() | given_files(commands=())
    if provisioner == "cloud-init":
        return cloud_init.run(user_data, extra_files=given)
    start = ("slipway-bootstrap.service", integration.BOOT_SERVICE)
    return ignition.run(user_data, extra_files=given, start=start)


@cache
def paths_of_the_host(provisioner: str) -> frozenset[str]:
    """What is on the machine without any hostile value."""
    state = boot(provisioner, ours.render(linux(), provisioner).user_data)
    return frozenset({**state.files, **state.run})


@cache
def filled(family: str, provisioner: str) -> tuple[bootstrappb.GetUserDataResponse, list[Place], list[Place]]:
    """The answer with a family's values, where they are, and where they were refused."""
    return render_what_is_accepted(linux(), family, lambda one: ours.render(one, provisioner))


def canaries(state: MachineState) -> list[str]:
    """The files that only an executed value makes."""
    return [path for path in state.files if path.startswith("/canary")]


@pytest.mark.parametrize("provisioner", PROVISIONERS)
@pytest.mark.parametrize("family", hostile.FAMILIES)
def test_a_hostile_value_is_a_value(family: str, provisioner: str, engine: Callable[..., None]) -> None:
    """Every string field at once: refused with its path, or at its place on the machine and nothing else."""
    engine("root-trixie", "ignition")
    answer, accepted, _ = filled(family, provisioner)
    state = boot(provisioner, answer.user_data)
    assert (state.status, state.findings) == ("done", ())
    # Without its end a run would prove little: what comes behind the first failure is never done.
    assert state.content(SENTINEL) == b"success\n"
    found = list(strings_of(without(state, WHAT_WE_BROUGHT)))
    assert [place.path for place in accepted if not any(place.value in text for text in found)] == []
    assert canaries(state) == []
    more = {**state.files, **state.run}.keys() - paths_of_the_host(provisioner)
    asked = [place.value for place in accepted]
    asked += [f"/etc/sudoers.d/90-slipway-{user.name}" for user in linux().subject.spec.os.users]
    asked += [f"/etc/systemd/system/{unit.name}" for unit in linux().subject.spec.os.systemd_units]
    asked += [f"/home/{user.name}" for user in linux().subject.spec.os.users]  # For keys.
    asked += [f"/etc/containerd/certs.d/{registry.host}" for registry in linux().subject.spec.os.containerd.registries]
    unasked = {path for path in more if not any(value in path or within_path(value, path) for value in asked)}
    assert {path for path in unasked if not path.startswith(OUR_STATE)} == set()


@pytest.mark.parametrize("provisioner", PROVISIONERS)
def test_a_rule_that_sudo_can_not_read_is_no_command(provisioner: str, engine: Callable[..., None]) -> None:
    """A native spec is refused.

    That of an import stands in sudo's file as it is, or visudo ends the bootstrap before kubeadm; nothing is executed.
    """
    engine("root-trixie", "ignition")
    question = linux()
    rules = [hostile.SHELL.replace("@", str(number)) for number, _ in enumerate(question.subject.spec.os.users)]
    for user, rule in zip(question.subject.spec.os.users, rules, strict=True):
        user.sudo.append(rule)
    with pytest.raises(SlipwayError):
        ours.render(question, provisioner)
    question.subject.spec.imported.kind = "KubeadmConfig"
    state = boot(provisioner, ours.render(question, provisioner).user_data)
    assert canaries(state) == []
    if SENTINEL in state.run:
        assert [rule for rule in rules if not any(rule in sudo_rule for sudo_rule in state.sudo_rules)] == []
    else:
        assert [call for call in state.calls if call.argv[0] == "kubeadm"] == []


@pytest.mark.parametrize("provisioner", PROVISIONERS)
def test_a_document_that_is_none_is_refused(provisioner: str) -> None:
    """The kubelet's configuration is read before anything is rendered."""
    question = linux()
    for family in hostile.FAMILIES:
        question.subject.spec.kubernetes.node.kubelet_configuration.text = hostile.value_of(family, 1)
        with pytest.raises(SlipwayError):
            ours.render(question, provisioner)


def test_every_string_has_a_place() -> None:
    """A field that is added to the contract is filled in here on the day it is added, or left out with a reason."""
    machines = (linux(), k0s("k0s-0"))
    filled = {place.name for machine in machines for place in hostile.places(machine.subject)}
    assert hostile.string_fields() - filled == set()


@pytest.mark.long
@pytest.mark.parametrize("provisioner", PROVISIONERS)
def test_only_words_of_a_grammar_are_never_taken(provisioner: str) -> None:
    """Were all refused, nothing would be proved: the list is of the fields whose grammar takes no hostile value."""
    ever: set[str] = set()
    for family in hostile.FAMILIES:
        _, accepted, refused = filled(family, provisioner)
        assert refused
        ever |= {place.name for place in accepted}
    words = {
        *(HERE / "never_hostile.txt").read_text(encoding="utf-8").split(),
        "KubeadmMachineValue.field",
        "SystemdUnit.contents",
        "SystemdDropIn.contents",
    }
    assert {place.name for place in hostile.places(linux().subject)} - ever == words
