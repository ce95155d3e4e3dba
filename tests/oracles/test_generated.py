"""The same machine by cloud-init and by Ignition, for machines that nobody thought of.

Their specs are made from the contract's descriptors: the system, the commands, Kubernetes and its engine. Every run of
an engine is of one machine with many items, so that a few runs have every field in several combinations; all of it
takes 30 s. What a machine can reach is on its own loopback device: `generated_network` says what.
"""

import contextlib
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.contract.items import items
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.integration import machines as integration
from tests.integration.documents import questions
from tests.oracles import (
    agreement,
    cluster,
    configs,
    generated,
    generated_kubernetes_values,
    generated_network,
    generated_values,
    sameness,
)
from tests.oracles.filling import linux
from tools.oracles import cloud_init, fakes, ignition, kubeadm, tree_diff, unit_files
from tools.oracles.machine_state import MachineState
from tools.oracles.sandbox import Command, File, Outcome
from tools.oracles.tree_diff import Allowed, Part

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

# Two make a cluster, since the store of one is either its own or another's; the others join, by each way of discovery.
MACHINES = ("harbour-cp-0", "harbour-cp-1", "harbour-worker", "harbour-cp-0", "harbour-worker")
MAKES_CLUSTER = tuple(name == "harbour-cp-0" for name in MACHINES)
SECRETS = (
    ("hash", generated_values.HASH.encode()),
    ("word", b's"e\\cret \xc3\xbc'),
    ("token", b"fedcba.9876543210fedcba"),
    ("encryption", b"kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nresources: []\n"),
)
ROOT = "node-trixie"
UNNAMED = 1
TRUSTS_FOR_DOWNLOADS = 2
PROVISIONERS = ("cloud-init", "ignition")
DOWNLOADED, FACTS, APPENDED = "/srv/downloaded", "/srv/facts", "/srv/appended"
LIST = Path(__file__).with_name("generated_differences.toml")
_LINES = ("first\n", "second\n", "third\n")
_KUBEADM = "/usr/local/lib/engine/kubeadm"
# The real one, which cannot start or stop anything here, since no systemd runs.
_SYSTEMCTL = b"""\
#!/bin/sh
for word; do
  shift
  [ "$word" = --now ] || set -- "$@" "$word"
done
exec /usr/bin/systemctl "$@"
"""


def differences(*, shown_by: int | None = None) -> list[Allowed]:
    """The checked-in list, or what of it a machine shows."""
    table = tomllib.loads(LIST.read_text(encoding="utf-8"))["allowed"]
    return [
        Allowed(
            Part(one["part"]),
            one["name"],
            one["reason"],
            only=one.get("only", ""),
            member=one.get("member", ""),
        )
        for one in table
        if shown_by in {None, one["shown_by"]}
    ]


def drawn(number: int) -> specpb.MachineBootstrapSpec:
    """What a machine is asked to be, before anything is refused."""
    spec = specpb.MachineBootstrapSpec()
    spec.CopyFrom(generated.systems(len(MACHINES))[number])
    spec.MergeFrom(generated.kubernetes(MAKES_CLUSTER)[number])
    return spec


def question(number: int) -> MachineQuestion:
    """A machine with a generated system, generated commands, and a generated part in its cluster."""
    made = questions(configs.EXAMPLES / "native.yaml")[MACHINES[number]]
    made.subject.spec.CopyFrom(drawn(number))
    made.subject.spec.target.CopyFrom(linux().subject.spec.target)
    made.subject.spec.target.infrastructure = generated_network.INFRASTRUCTURE
    _download(made.subject.spec.os, number)
    made.subject.spec.os.files.append(generated_network.file_of_facts(FACTS))
    _relate(made.subject.spec.os)
    if number == UNNAMED:
        made.subject.spec.os.ClearField("hostname")
    for item in items(made.subject.spec):
        item.message.ClearField("origin")
    for key, value in SECRETS:
        made.secrets.secrets.add(name="team-secrets", key=key, value=value, kind=secretpb.SECRET_KIND_OPAQUE)
    return made


def _download(system: ospb.OperatingSystem, number: int) -> None:
    """Have one more file downloaded; a system trusts the servers' authority where one of them has to be vouched for.

    On the others Ignition downloads by itself. One machine trusts the authority for its downloads only.
    """
    remote = generated_network.REMOTES[number]
    system.files.add(path=DOWNLOADED, owner="root", group="root", mode=0o600).remote.CopyFrom(remote)
    secured = [file.remote for file in system.files if generated_network.is_secured([file.remote])]
    if number == TRUSTS_FOR_DOWNLOADS:
        for content in secured:
            content.ca.text = generated_network.certificate().decode()
    if not secured or number == TRUSTS_FOR_DOWNLOADS:
        del system.trusted_certificates[:]
    elif not system.trusted_certificates:
        system.trusted_certificates.add(name="servers")
    for trusted in system.trusted_certificates:
        trusted.certificate.CopyFrom(contentpb.Content(text=generated_network.certificate().decode()))


def _relate(system: ospb.OperatingSystem) -> None:
    """Say what no example draws: files with a path in common, and a system account of a group with a number."""
    for text in _LINES:
        file = system.files.add(path=APPENDED, owner="root", group="root", mode=0o600)
        file.content.text = text
        if text != _LINES[0]:
            file.append = True
    system.groups.add(name="served", gid=4300)
    system.users.add(name="served", uid=870, system=True, primary_group="served", home="/srv/served/home")


@cache
def rendered(number: int) -> tuple[dict[str, bootstrappb.GetUserDataResponse], MachineQuestion, list[str]]:
    """What both make of a machine, what is left of it, and what was refused."""
    asked = question(number)
    answers, refused = agreement.render_by_all(asked, PROVISIONERS)
    return answers, asked, refused


@dataclass(frozen=True)
class Booted:
    """The machine by cloud-init and by Ignition, and how the real kubeadm's strict loader ended on the first."""

    left: MachineState
    right: MachineState
    kubeadm: Outcome


def booted(number: int) -> Booted:
    """Both machines."""
    answers, _, _ = rendered(number)
    given = {
        _KUBEADM: File(mode=0o755, host=kubeadm.program()),
        generated_kubernetes_values.CA_PATH: File(cluster.pki()["ca.crt"].encode()),
        generated_kubernetes_values.DISCOVERY_PATH: File(b"that of the image\n"),
    }
    validate = Command((_KUBEADM, "config", "validate", "--config", "/etc/slipway/kubeadm.yaml"), timeout=60.0)
    with both(answers["cloud-init"].user_data, answers["ignition"].user_data, given) as (left, right):
        (said,) = left.run(validate)
        return Booted(left.state(), right.state(), said)


def boot_both(cloud_config: bytes, config: bytes) -> tuple[MachineState, MachineState]:
    """The machine of a cloud-config, and the one of an Ignition config, with their entry points run."""
    with both(cloud_config, config, {}) as (left, right):
        return left.state(), right.state()


@contextlib.contextmanager
def both(
    cloud_config: bytes, config: bytes, more: Mapping[str, File]
) -> Iterator[tuple[cloud_init.Machine, ignition.Machine]]:
    """Two machines that were set up, to look at, with more files that they have beforehand."""
    given = integration.given_files() | fakes.command("record") | {"/usr/local/bin/systemctl": File(_SYSTEMCTL, 0o755)}
    given |= more
    with (
        cloud_init.opened(root=ROOT, extra_files=given, sites=generated_network.sites()) as left,
        ignition.opened(root=ROOT, extra_files=given, sites=generated_network.sites()) as right,
    ):
        left.boot(cloud_config)
        right.boot(config)
        unit_files.start(right.box, "slipway-bootstrap.service")
        for machine in (left, right):
            # No systemd runs there, so what the runner has started is started by hand.
            if (machine.box.upper / f"etc/systemd/system/{integration.BOOT_SERVICE}").exists():
                unit_files.start(machine.box, integration.BOOT_SERVICE)
        yield left, right


@pytest.mark.parametrize("number", range(len(MACHINES)))
def test_the_machine_is_the_same(number: int, engine: Callable[..., None]) -> None:
    """Both end well, nothing differs but what the list names, and kubeadm takes every word of what it would read.

    What is downloaded, and what the cloud tells of the machine, is on both what the servers say; what is put behind a
    file stands behind it.
    """
    engine(f"root-{ROOT}", "ignition", "kubeadm-1.34")
    made = booted(number)
    assert sameness.problems(made.left, made.right, allowed=differences()) == []
    assert tree_diff.unused(made.left, made.right, allowed=differences(shown_by=number)) == []
    # The authority of a generated spec may end before the certificates that it issues, of which kubeadm warns.
    lines = [line for line in made.kubeadm.output.splitlines() if b"WARNING: certificateValidityPeriod" not in line]
    assert (made.kubeadm.status, lines) == (0, [b"ok"])
    expected = {
        DOWNLOADED: generated_network.CONTENT,
        FACTS: generated_network.facts_in_a_file(),
        APPENDED: "".join(_LINES).encode(),
    }
    for state in (made.left, made.right):
        assert {path: state.content(path) for path in expected} == expected


def test_every_field_is_said() -> None:
    """A field that is added to the contract is on a machine here, taken by both, or left out with a reason."""
    said: set[str] = set()
    for number, makes_cluster in enumerate(MAKES_CLUSTER):
        said |= generated.said(generated.used(rendered(number)[1].subject.spec, makes_cluster=makes_cluster))
    assert generated.fields() - said == set()


def test_little_is_refused() -> None:
    """Were most of it taken out, little would be proved."""
    for number in range(len(MACHINES)):
        _, left, refused = rendered(number)
        assert len(refused) <= 10
        assert left.subject.spec.ByteSize() > drawn(number).ByteSize() / 2


def test_what_is_left_out_is_a_field() -> None:
    """A reason must not outlive its field."""
    descriptors = {name.partition(".")[0] for name in generated.fields()}
    assert {name.partition(".")[0] for name in generated.LEFT_OUT} <= descriptors


def test_the_list_of_differences_does_not_grow_unseen() -> None:
    """Each entry is shown by a machine here, and a new one needs a second look."""
    assert sum(len(differences(shown_by=number)) for number in range(len(MACHINES))) == len(differences()) == 22
