"""The examples are rendered, or refused by the features that we say: a table that people can rely on."""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from services.cli.rendering import Rendered
from tests.examples.conftest import FILES, Outcome
from tools.engines import ignition_parsers, roots, sandbox, talos, windows
from tools.engines.finding import Finding, errors
from tools.engines.sandbox import Command, File

EXPECTED: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(
    (Path(__file__).parent / "expectations.yaml").read_text(encoding="utf-8")
)
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
        assert [one["feature"] for one in outcomes[machine].own.entry.refusals] == ["AMBIGUOUS_PROVISIONER"]


def _rendered(outcomes: dict[str, Outcome], provisioner: str) -> Iterator[tuple[str, bytes]]:
    """Give the user data of every machine that a provisioner rendered, unpacked."""
    for machine, outcome in outcomes.items():
        for one in (*outcome.all, outcome.own):
            if one.entry.provisioner == provisioner and one.answer is not None:
                yield f"{machine} as {one.entry.format}", _unpacked(one)


def _unpacked(rendered: Rendered) -> bytes:
    assert rendered.answer is not None
    data = rendered.answer.user_data
    return gzip.decompress(data) if rendered.answer.encoding == "gzip" else data


def _complaints(
    outcomes: dict[str, Outcome], provisioner: str, check: Callable[[bytes], list[Finding]]
) -> dict[str, list[str]]:
    checked = {name: errors(check(data)) for name, data in _rendered(outcomes, provisioner)}
    assert checked, "nothing was rendered, so nothing was checked"
    return {name: [str(finding) for finding in findings] for name, findings in checked.items() if findings}


@pytest.mark.engine
def test_cloud_init_takes_what_was_rendered(outcomes: dict[str, Outcome], engine: Callable[..., None]) -> None:
    """Every cloud-config of the examples fits cloud-init's own schema; one machine checks them all."""
    engine("root-trixie")
    documents = {f"/root/{name.split()[0]}": data for name, data in _rendered(outcomes, "cloud-init")}
    commands = [Command(("cloud-init", "schema", "--config-file", path), timeout=60.0) for path in documents]
    with sandbox.opened(roots.ROOTS["trixie"].require()) as box:
        answers = box.session(commands, files={path: File(data, 0o600) for path, data in documents.items()})
    assert documents
    assert [answer.output.decode() for answer in answers if answer.status] == []


@pytest.mark.engine
def test_ignition_takes_what_was_rendered(outcomes: dict[str, Outcome], engine: Callable[..., None]) -> None:
    """Every Ignition config of the examples is read by Ignition's own parser of its version."""
    engine("ignition-parsers")
    assert _complaints(outcomes, "ignition", ignition_parsers.validate) == {}


@pytest.mark.engine
def test_talos_takes_what_was_rendered(outcomes: dict[str, Outcome], engine: Callable[..., None]) -> None:
    """Every machine config of the examples is loaded and validated by Talos itself."""
    engine("talos-1.13")
    assert _complaints(outcomes, "talos", lambda data: talos.validate(data, mode=talos.Mode.CLOUD)) == {}


@pytest.mark.engine
def test_powershell_takes_what_was_rendered(outcomes: dict[str, Outcome], engine: Callable[..., None]) -> None:
    """Every script for Windows is PowerShell."""
    engine("windows")
    assert _complaints(outcomes, "windows", windows.check_powershell) == {}
