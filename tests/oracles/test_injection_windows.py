"""No value of a spec is more than a value on Windows: it stands in a literal, and the script does the same as without.

No Windows is here. cloudbase-init's own dispatcher says what would run; PowerShell's grammar says what of it is program
and what is data; the answer file goes through its schema.
"""

from collections.abc import Callable
from functools import cache

import pytest

from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tests.oracles import hostile, ours, powershell
from tests.oracles.filling import render_what_is_accepted, windows
from tests.oracles.hostile import Place
from tools.oracles import windows as engine_of_windows

pytestmark = [pytest.mark.engine, pytest.mark.timeout(120)]

FORMATS = ("cloudbase-init", "unattend")
# What is rendered for a family is looked at by several tests.
FAMILIES = [pytest.param(name, marks=pytest.mark.xdist_group(f"windows-{name}")) for name in hostile.FAMILIES]


@cache
def rendered(family: str, format_id: str) -> tuple[bootstrappb.GetUserDataResponse, list[Place]]:
    """The answer with a family's values, and where they are."""

    def render(question: MachineQuestion) -> bootstrappb.GetUserDataResponse:
        return ours.render(question, "windows", format_id)

    return render_what_is_accepted(windows(), family, render)[:2]


def script_of(answer: bootstrappb.GetUserDataResponse) -> str:
    """The script, wherever the format has it."""
    return (answer.attachments[0].content if answer.attachments else answer.user_data).decode("ascii")


def harmless(place: Place) -> str:
    """A value of the same kind that means nothing to anybody."""
    for beginning in ("https://h.example/", "C:/", "/var/", "ssh-ed25519 AAAA "):
        if place.value.startswith(beginning[:4]):
            return f"{beginning}plain"
    return "plain"


@pytest.mark.parametrize("format_id", FORMATS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_hostile_value_is_in_a_literal(family: str, format_id: str) -> None:
    """Every accepted value is there as it was, slashes apart, which Windows takes for the same."""
    answer, accepted = rendered(family, format_id)
    assert accepted
    found = [text.replace("\\", "/") for text in powershell.texts(script_of(answer))]
    assert [one.path for one in accepted if not any(one.value.replace("\\", "/") in text for text in found)] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_the_script_is_the_one_of_harmless_values(family: str) -> None:
    """What is left without literals is the same, however hostile the literals were."""
    answer, accepted = rendered(family, FORMATS[0])
    question = windows()
    places = {place.path: place for place in hostile.places(question.subject)}
    for place in accepted:
        places[place.path].fill(harmless(place))
    plain = ours.render(question, "windows", FORMATS[0])
    assert powershell.skeleton(script_of(answer)) == powershell.skeleton(script_of(plain))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_real_dispatcher_runs_one_script(family: str, engine: Callable[..., None]) -> None:
    """cloudbase-init sees one script of PowerShell's grammar and nothing beside it; the answer file fits its schema."""
    engine("windows")
    answer, _ = rendered(family, "cloudbase-init")
    made = engine_of_windows.dispatch(answer.user_data)
    (execution,) = made.executions
    assert made.steps == (execution,)
    assert (execution.shell, execution.content) == ("PowershellSysnative", answer.user_data)
    assert (made.findings, made.done, made.reboot) == ((), True, False)
    assert engine_of_windows.check_powershell(answer.user_data) == []
    unattend, _ = rendered(family, "unattend")
    assert engine_of_windows.check_unattend(unattend.user_data) == []
    assert engine_of_windows.check_powershell(script_of(unattend).encode()) == []


def test_the_skeleton_shows_what_is_no_literal() -> None:
    """A value that left its quotes would change it."""
    assert powershell.skeleton("A 'x''y'\n") == powershell.skeleton("A 'z'\n")
    assert powershell.skeleton("A 'x'y'\n") != powershell.skeleton("A 'z'\n")
    assert powershell.skeleton("A 'x'; B 'y'\n") != powershell.skeleton("A 'z'\n")
