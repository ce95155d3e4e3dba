"""`slipway import` and `slipway diff`: the same machines in other words, and what changes on them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.services.cli.conftest import EXAMPLES, Slipway

pytestmark = pytest.mark.long

NATIVE = EXAMPLES / "native.yaml"
TEMPLATES = sorted(path for path in EXAMPLES.glob("cluster-*.yaml"))


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda path: path.name)
def test_an_imported_template_makes_the_same_machines(slipway: Slipway, write: Callable[..., Path], file: Path) -> None:
    """What import prints can be read again, names every machine, and changes nothing on any of them."""
    imported = slipway("import", file, "--set-missing", "--show-secrets")
    assert imported.exit_code == 0, imported.stderr
    native = write(imported.stdout, "native.yaml")
    assert "SlipwayCluster" in imported.stdout
    result = slipway("diff", file, native, "--set-missing", "--exit-code")
    assert (result.exit_code, result.stdout) == (0, "nothing changes\n"), result.stdout


def test_files_are_named_with_or_without_the_option(slipway: Slipway, write: Callable[..., Path]) -> None:
    """Every command takes FILE and -f FILE, so that `-f *.yaml` means what it says; diff takes two of them."""
    other = write(NATIVE.read_text().replace("harbour", "haven"))
    assert slipway("import", "-f", TEMPLATES[0]).stdout.startswith("apiVersion")
    assert slipway("diff", "-f", NATIVE, "-f", NATIVE).stdout == "nothing changes\n"
    assert slipway("diff", "-f", NATIVE, other).stdout == slipway("diff", NATIVE, other).stdout
    machines = json.loads(slipway("validate", "-f", NATIVE, TEMPLATES[0], "-o", "json").stdout)["machines"]
    assert {machine["cluster"] for machine in machines} == {"harbour", "lighthouse"}


WRONG = [
    (("diff",), "two files are required, before and after", "no file"),
    (("diff", NATIVE), "two files are required, before and after", "one file"),
    (("diff", "-", "-"), "only one of the two", "standard input twice"),
    (("import",), "-f FILE", "no file where one is needed"),
]


@pytest.mark.parametrize(("arguments", "said", "reason"), WRONG, ids=[row[-1] for row in WRONG])
def test_a_wrong_number_of_files_is_told(slipway: Slipway, arguments: tuple[str, ...], said: str, reason: str) -> None:
    """Exit code 2, and what to write."""
    result = slipway(*arguments)
    assert (result.exit_code, said in result.stderr) == (2, True), reason


def test_what_an_import_lists_as_optional_is_told_as_such(slipway: Slipway) -> None:
    """Nobody is told that a template lists optional features, which it cannot: the importer does; a spec can."""
    said = "os.default_user.omit was left out, as"
    result = slipway("render", "-f", EXAMPLES / "cluster-aws.yaml", "--provisioner", "ignition")
    assert f"{said} the importer allows" in result.stderr
    spec = slipway("import", EXAMPLES / "cluster-aws.yaml").stdout
    result = slipway("render", "-", "--provisioner", "ignition", stdin=spec)
    assert f"{said} spec.optionalFeatures allows" in result.stderr


def test_text_for_a_shell_survives(slipway: Slipway, write: Callable[..., Path]) -> None:
    """`$${` in a template is `${` on the machine; what is printed is a template again, or text if it was none."""
    command = 'for d in "$${disks[@]}"; do echo $$$d; done'
    text = (
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfig\nmetadata: {name: k}\n"
        "spec:\n  joinConfiguration: {}\n  preKubeadmCommands:\n    - '" + command + "'\n"
    )
    printed = slipway("import", write(text), "--set-missing").stdout
    assert command.replace("$$$d", "$$d") in printed.replace("$$$$d", "$$d").replace("$$$d", "$$d")
    again = slipway("import", write(text.replace("$${", "${").replace("$$$d", "$$d")), "--no-substitution").stdout
    script = yaml.safe_load(again)["spec"]["commands"]["pre"][0]["script"]["text"]
    assert script == 'for d in "${disks[@]}"; do echo $$d; done\n'


OUTPUTS = [("yaml", lambda text: list(yaml.safe_load_all(text))), ("json", json.loads)]


@pytest.mark.parametrize(("output", "parse"), OUTPUTS, ids=["yaml", "json"])
def test_documents_come_in_both_forms(
    slipway: Slipway, output: str, parse: Callable[[str], list[dict[str, object]]]
) -> None:
    """One cluster that lists its machines, and a config for each that differs; the table lists the machines."""
    documents = parse(slipway("import", EXAMPLES / "cluster-aws.yaml", "-o", output).stdout)
    assert [document["kind"] for document in documents] == ["SlipwayCluster", *["SlipwayConfig"] * 3]
    table = slipway("import", EXAMPLES / "cluster-aws.yaml", "-o", "table").stdout
    assert "KubeadmControlPlane/lighthouse-control-plane" in table


CHANGES = [
    ('value: "262144"', 'value: "1"', "changed", "os.sysctls vm.max_map_count", ["value"], "a value"),
    ("      - {name: overlay}\n", "", "removed", "os.kernel.modules overlay", [], "an item that goes"),
    (
        "    ntp:\n",
        "    timeZone: {name: Europe/Berlin}\n    ntp:\n",
        "added",
        "os.time_zone Europe/Berlin",
        [],
        "an item that comes",
    ),
    ("v1.34.2", "v1.34.3", "changed", "kubernetes version", ["version"], "the version"),
    ("api.harbour.example.com, port", "api2.example.com, port", "changed", "cluster", ["endpoint"], "the endpoint"),
]


@pytest.mark.parametrize(
    ("old", "new", "change", "what", "fields", "reason"), CHANGES, ids=[row[-1] for row in CHANGES]
)
def test_a_change_is_told_by_its_name(  # noqa: PLR0913, PLR0917  # a row
    slipway: Slipway,
    write: Callable[..., Path],
    old: str,
    new: str,
    change: str,
    what: str,
    fields: list[str],
    reason: str,
) -> None:
    """Machine, kind of change, what, and which of its fields; nothing else changes."""
    text = NATIVE.read_text()
    assert old in text
    file = write(text.replace(old, new, 1))
    result = slipway("diff", NATIVE, file, "-o", "json")
    found = [one for one in json.loads(result.stdout) if one["machine"] == "harbour-cp-0"]
    assert result.exit_code == 0
    assert [(one["change"], one["what"], one["fields"]) for one in found] == [(change, what, fields)], reason
    assert slipway("diff", NATIVE, file, "--exit-code").exit_code == 1


def test_a_changed_content_is_told_and_never_shown(slipway: Slipway, write: Callable[..., Path]) -> None:
    """Contents are compared; neither the old nor the new one is printed."""
    before = (EXAMPLES / "pool-native.yaml").read_text()
    aws = EXAMPLES / "cluster-aws.yaml"
    first = write(aws.read_text() + "---\n" + before, "a.yaml")
    second = write(aws.read_text() + "---\n" + before.replace("persistence = true", "canary = false"), "b.yaml")
    result = slipway("diff", first, second)
    assert "os.files /etc/accelerator/settings.toml" in result.stdout
    assert "canary" not in result.output


def test_a_machine_that_comes_or_goes_is_told(slipway: Slipway, write: Callable[..., Path]) -> None:
    """Machines are distinguished by their names."""
    text = NATIVE.read_text().replace("harbour-cp-1", "harbour-cp-2")
    result = slipway("diff", NATIVE, write(text), "-o", "json")
    assert {(one["machine"], one["change"]) for one in json.loads(result.stdout)} == {
        ("harbour-cp-1", "removed"), ("harbour-cp-2", "added"),
    }  # fmt: skip
