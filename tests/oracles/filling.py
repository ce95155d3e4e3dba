"""Machines that ask for nearly everything, with hostile values in all of it that is not refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.documents.native import NativeConfig, read_native
from slipway.contract.errors import SlipwayError
from slipway.contract.items import items, within
from slipway.contract.yaml_source import load_documents
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.bootstrapper.lowering.specs import PEM
from tests.integration import machines as integration
from tests.integration.documents import questions
from tests.oracles import hostile
from tests.oracles.hostile import Place

HERE = Path(__file__).parent
ROUNDS = 16
_SECRETS = (("hash", b"$6$salt$WKhNPNW5.DIvZ8Kw0BbkeIPzlp6c7sHzdlKg"), ("word", b"word"))

Render = Callable[[MachineQuestion], bootstrappb.GetUserDataResponse]


def windows() -> MachineQuestion:
    """A Windows worker."""
    return _finished(questions(HERE / "hostile_windows.yaml", CERTIFICATE=PEM)["win-0"])


def talos() -> MachineQuestion:
    """A control plane of Talos."""
    return _finished(questions(HERE / "hostile_talos.yaml", CERTIFICATE=PEM)["talos-0"])


def k0s(machine: str) -> MachineQuestion:
    """A machine of k0s: the first controller, "k0s-0", or a worker, "k0s-1"."""
    return _finished(questions(HERE / "hostile_k0s.yaml", CERTIFICATE=PEM)[machine])


def linux() -> MachineQuestion:
    """A machine that asks for nearly everything."""
    path = Path(integration.__file__).with_name("full_machine.yaml")
    question = questions(path, CERTIFICATE=PEM, EVERY_BYTE="AAEC")["cp-0"]
    text = (HERE / "hostile_host.yaml").read_text(encoding="utf-8")
    (document,) = load_documents(text, file="hostile_host.yaml")
    more = read_native(document)
    assert isinstance(more, NativeConfig)
    # Its own commands would do something beside recording.
    question.subject.spec.ClearField("commands")
    question.subject.spec.MergeFrom(more.spec)
    for link in question.subject.spec.os.links:
        if link.hard:
            link.target = "/etc/debian_version"  # No file of the spec: those move to other paths.
    return _finished(question)


def render_what_is_accepted(
    question: MachineQuestion, family: str, render: Render
) -> tuple[bootstrappb.GetUserDataResponse, list[Place], list[Place]]:
    """Fill a family's values in everywhere, take out what is refused, and render the rest.

    What is refused together with others is tried once more without them.
    """
    accepted = list(hostile.places(question.subject))
    for number, place in enumerate(accepted):
        place.fill(hostile.value_of(family, number))
    refused: list[Place] = []
    doubtful: list[Place] = []
    answer = None
    for _ in range(ROUNDS):
        named, answer = _refused(question, accepted, render)
        if answer:
            break
        for violation in named.values():
            (refused if len(violation) == 1 else doubtful).extend(violation)
        accepted = [place for place in accepted if place.value]
    assert answer, "still refused"
    good = _tried_again(question, [(place, place.last) for place in doubtful], render) if doubtful else []
    refused += [place for place in doubtful if place not in good]
    return render(question) if good else answer, accepted + good, refused


def _refused(
    question: MachineQuestion, accepted: list[Place], render: Render
) -> tuple[dict[str, list[Place]], bootstrappb.GetUserDataResponse | None]:
    """The answer, or the places that are refused, by the paths that name them; they are empty then."""
    try:
        return {}, render(question)
    except SlipwayError as error:
        said = f"{error} {error.violations}"
        left = list(accepted)
        named: dict[str, list[Place]] = {}
        for violation in sorted(error.violations, key=lambda one: -len(one.path)):
            where = violation.path.removeprefix("spec.")
            # A field may break two rules.
            found = named.setdefault(violation.path, [])
            found += [place for place in left if within(place.path.removeprefix("spec."), where)]
            left = [place for place in left if place not in found]
        if len(left) == len(accepted) or any(place.value in said for place in accepted):
            pytest.fail(f"a refusal without a place, or with a value: {said}")
        for place in (place for places in named.values() for place in places):
            place.empty()
        return named, None


def _tried_again(question: MachineQuestion, wanted: list[tuple[Place, str]], render: Render) -> list[Place]:
    """Fill in again what is taken without the rest."""
    for place, value in wanted:
        place.fill(value)
    try:
        render(question)
    except SlipwayError:
        for place, _ in reversed(wanted):
            place.empty()
        half = len(wanted) // 2
        return [one for part in (wanted[:half], wanted[half:]) if half for one in _tried_again(question, part, render)]
    return [place for place, _ in wanted]


def _finished(question: MachineQuestion) -> MachineQuestion:
    for item in items(question.subject.spec):
        # A place in a document says nothing of the whole, which two documents may be in.
        item.message.ClearField("origin")
    for key, value in _SECRETS:
        question.secrets.secrets.add(name="team-secrets", key=key, value=value, kind=secretpb.SECRET_KIND_OPAQUE)
    return question


def _is_named(place: Place, error: SlipwayError) -> bool:
    own = place.path.removeprefix("spec.")
    return any(within(own, violation.path.removeprefix("spec.")) for violation in error.violations)
