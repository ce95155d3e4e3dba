"""The examples are rendered, or refused by the features that we say: a table that people can rely on."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.examples.conftest import FILES, Outcome

EXPECTED: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(
    (Path(__file__).parent / "expectations.yaml").read_text(encoding="utf-8")
)
# One process has all tests, and renders the examples once.
pytestmark = [pytest.mark.long, pytest.mark.xdist_group("examples")]

MACHINES = [(example, machine) for example, machines in EXPECTED.items() for machine in machines]
OWN_FORMATS = {"cluster-flatcar.yaml": "ignition/3.3.0", "pool-native.yaml": "ignition/3.3.0"}
OWN_BY_MACHINE = {
    "lighthouse-windows": "cloudbase-init",
    "gannet-win": "cloudbase-init",
    # Docker's machines read Ignition themselves, in its old version only.
    "dinghy-pool": "ignition/2.3.0",
}


def test_every_machine_of_every_example_is_in_the_table(outcomes: dict[str, Outcome]) -> None:
    """No example, and no machine of one, goes without an expectation; nor is one kept that nobody describes."""
    assert set(EXPECTED) == set(FILES)
    assert {machine for _, machine in MACHINES} == set(outcomes)
    assert all(outcomes[machine].example == example for example, machine in MACHINES)


@pytest.mark.parametrize(("example", "machine"), MACHINES)
def test_a_machine_is_rendered_or_refused_as_the_table_says(
    example: str, machine: str, outcomes: dict[str, Outcome]
) -> None:
    """By every provisioner: user data, or a refusal by exactly the listed features, each with a field and a reason."""
    found = {}
    for one in outcomes[machine].all:
        entry = one.entry
        assert entry.status in {"rendered", "refused"}, entry.refusals
        assert all(refusal["field"] and refusal["reason"] for refusal in entry.refusals)
        refused = sorted({refusal["feature"] for refusal in entry.refusals})
        found[entry.provisioner] = refused if entry.status == "refused" else "rendered"
    assert found == EXPECTED[example][machine]


@pytest.mark.parametrize(("example", "machine"), [row for row in MACHINES if row[0] != "native.yaml"])
def test_the_own_format_of_a_template_is_always_rendered(
    example: str, machine: str, outcomes: dict[str, Outcome]
) -> None:
    """Whoever comes with a KubeadmConfig gets at least what the kubeadm provider gives today."""
    entry = outcomes[machine].own.entry
    expected = OWN_BY_MACHINE.get(machine) or OWN_FORMATS.get(example, "cloud-config")
    assert (entry.status, entry.format) == ("rendered", expected), entry.refusals


def test_a_spec_that_names_no_provisioner_is_not_guessed_at(outcomes: dict[str, Outcome]) -> None:
    """Several could serve the native example, so that the choice is left to the person."""
    for machine in EXPECTED["native.yaml"]:
        assert [refusal["feature"] for refusal in outcomes[machine].own.entry.refusals] == ["AMBIGUOUS_PROVISIONER"]
