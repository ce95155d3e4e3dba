"""The same machine by cloud-init and by Ignition, for machines that nobody thought of.

Their specs are made from the contract's descriptors. Every run of an engine is of one machine with many items, so that
a few runs have every field in several combinations.
"""

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from bootstrapper.documents.machines import MachineQuestion
from services.contract.walk import items
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.engines import agreement, configs, generated, sameness
from tests.engines.filling import linux
from tests.integration import machines as integration
from tests.integration.documents import questions
from tools.engines import cloud_init, fakes, ignition, tree_diff, unit_files
from tools.engines.machine_state import MachineState
from tools.engines.sandbox import File
from tools.engines.tree_diff import Allowed, Part

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

MACHINES = 5
PROVISIONERS = ("cloud-init", "ignition")
LIST = Path(__file__).with_name("generated_differences.toml")
# The real one, which can not start or stop anything here, since no systemd runs.
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
        Allowed(Part(one["part"]), one["name"], one["reason"]) for one in table if shown_by in {None, one["shown_by"]}
    ]


def question(number: int) -> MachineQuestion:
    """A worker with a generated system and generated commands."""
    made = questions(configs.EXAMPLES / "native.yaml")["harbour-worker"]
    made.subject.spec.CopyFrom(generated.specs(MACHINES)[number])
    made.subject.spec.target.CopyFrom(linux().subject.spec.target)
    for item in items(made.subject.spec):
        item.message.ClearField("origin")
    for key, value in (("hash", generated.HASH.encode()), ("word", b's"e\\cret \xc3\xbc')):
        made.secrets.secrets.add(name="team-secrets", key=key, value=value, kind=secretpb.SECRET_KIND_OPAQUE)
    return made


@cache
def rendered(number: int) -> tuple[dict[str, bootstrappb.GetUserDataResponse], MachineQuestion, list[str]]:
    """What both make of a machine, what is left of it, and what was refused."""
    asked = question(number)
    answers, refused = agreement.render_by_all(asked, PROVISIONERS)
    return answers, asked, refused


def booted(number: int) -> tuple[MachineState, MachineState]:
    """The machine by cloud-init and by Ignition."""
    answers, _, _ = rendered(number)
    return boot_both(answers["cloud-init"].user_data, answers["ignition"].user_data)


def boot_both(cloud_config: bytes, config: bytes) -> tuple[MachineState, MachineState]:
    """The machine of a cloud-config, and the one of an Ignition config, with their entry points run."""
    given = integration.given_files() | fakes.command("record") | {"/usr/local/bin/systemctl": File(_SYSTEMCTL, 0o755)}
    with cloud_init.opened(extra_files=given) as left, ignition.opened(extra_files=given) as right:
        left.boot(cloud_config)
        right.boot(config)
        unit_files.start(right.box, "slipway-bootstrap.service")
        for machine in (left, right):
            # No systemd runs there, so what the runner has started is started by hand.
            if (machine.box.upper / f"etc/systemd/system/{integration.BOOT_SERVICE}").exists():
                unit_files.start(machine.box, integration.BOOT_SERVICE)
        return left.state(), right.state()


@pytest.mark.parametrize("number", range(MACHINES))
def test_the_machine_is_the_same(number: int, engine: Callable[..., None]) -> None:
    """Both end well, and nothing differs but what the list names."""
    engine("root-trixie", "ignition")
    left, right = booted(number)
    assert sameness.problems(left, right, allowed=differences()) == []
    assert tree_diff.unused(left, right, allowed=differences(shown_by=number)) == []


def test_every_field_is_said() -> None:
    """A field that is added to the contract is on a machine here, taken by both, or left out with a reason."""
    said = set().union(*(generated.said(rendered(number)[1].subject.spec) for number in range(MACHINES)))
    assert generated.fields() - said == set()


def test_little_is_refused() -> None:
    """Were most of it taken out, little would be proved."""
    for number in range(MACHINES):
        _, left, refused = rendered(number)
        assert len(refused) <= 10
        assert left.subject.spec.ByteSize() > generated.specs(MACHINES)[number].ByteSize() / 2


def test_what_is_left_out_is_a_field() -> None:
    """A reason must not outlive its field."""
    descriptors = {name.partition(".")[0] for name in generated.fields()}
    assert {name.partition(".")[0] for name in generated.LEFT_OUT} <= descriptors


def test_the_list_of_differences_does_not_grow_unseen() -> None:
    """Each entry is shown by a machine here, and a new one needs a second look."""
    assert sum(len(differences(shown_by=number)) for number in range(MACHINES)) == len(differences()) == 18
