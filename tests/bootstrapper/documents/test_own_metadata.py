"""Labels and annotations that are nearly Slipway's are reported, those of other projects are not."""

import re
from pathlib import Path

import pytest

from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.bootstrapper.documents.own_metadata import ANNOTATIONS, LABELS, slips
from slipway.contract.yaml_encode import dump

ROOT = Path(__file__).parents[3]
GROUP = "bootstrap.slipway.dev"
WORKERS = (ROOT / "examples/cluster-aws.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "expected", "reason"),
    [
        (f"{GROUP}/distributon", f"did you mean {GROUP}/distribution?", "a letter is missing"),
        (f"{GROUP}/os-distribution", f"did you mean {GROUP}/distribution?", "a word more"),
        ("slipway.dev/distribution", f"did you mean {GROUP}/distribution?", "the group is missing"),
        ("bootstrap.slipway.io/distribution", f"did you mean {GROUP}/distribution?", "another domain"),
        (f"{GROUP}/zzzz", f"there are {GROUP}/compliance, ", "nothing is like it"),
        (f"{GROUP}/managed", "is a label of Slipway's", "it is looked for among the labels"),
    ],
)
def test_a_slip_is_told_with_what_was_meant(name: str, expected: str, reason: str) -> None:
    """The path has the whole name, and the message the nearest one that there is."""
    ((path, message),) = slips({"annotations": {name: "rhel 9.4"}})
    assert path == ("annotations", name), reason
    assert expected in message, reason
    assert "rhel" not in message


@pytest.mark.parametrize(
    "metadata",
    [
        {"annotations": dict.fromkeys(sorted(ANNOTATIONS), ""), "labels": dict.fromkeys(sorted(LABELS), "")},
        {"annotations": {"cluster.x-k8s.io/paused": "", "distribution": "", "example.com/distribution": "", 7: ""}},
        {"annotations": {"slipway.example.com/distribution": "", "bootstrap.cluster.x-k8s.io/format": ""}},
        {"annotations": "text"},
        {},
        None,
    ],
)
def test_other_names_are_let_by(metadata: object) -> None:
    """Known ones, those of other projects, and what is no metadata at all."""
    assert not list(slips(metadata))


def test_a_misspelt_distribution_of_a_template_is_doubted_at_its_line() -> None:
    """Wherever metadata stand in the files, those of a Secret aside; the machines are rendered all the same."""
    names = f"annotations: {{{GROUP}/distributoin: rhel 9.4}}"
    kinds = {
        "SlipwayConfig": f"metadata: {{name: w, {names}}}\nspec: {{}}",
        "SlipwayConfigTemplate": f"metadata: {{name: t}}\nspec: {{template: {{metadata: {{{names}}}, spec: {{}}}}}}",
    }
    texts = [f"apiVersion: {GROUP}/v1alpha1\nkind: {kind}\n{rest}\n" for kind, rest in kinds.items()]
    item = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "annotations": {f"{GROUP}/bundle-id": "a"}}}
    texts.append(dump({"apiVersion": "v1", "kind": "List", "items": [item]}))
    head = "kind: KubeadmControlPlane\nmetadata:\n"
    aws = WORKERS.replace(head, f"{head}  {names}\n")
    assert aws != WORKERS
    documents = read_document_set({"f.yaml": "---\n".join([*texts, aws])}, variables={}, set_missing=True)
    doubts = [str(doubt) for doubt in documents.doubts]
    assert len(doubts) == 3
    assert all(re.match(r"f\.yaml:\d+:\d+: ", line) for line in doubts)
    assert all(line.endswith(f"did you mean {GROUP}/distribution?") for line in doubts)
    assert "spec.template.metadata.annotations" in doubts[1]
    assert documents.questions


def test_every_name_that_code_or_deployment_reads_is_known() -> None:
    """A name that is added to the controller or to deploy/ is added here, or its users would be warned."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "deploy/kubernetes").rglob("*.yaml")]
    texts += [(ROOT / f"services/slipway/controller/{name}.py").read_text() for name in ("ownership", "wrapping")]
    text = "".join(texts)
    named = {match[0] for match in re.finditer(r"(?<![.\w])(?:bootstrap\.)?slipway\.dev/[a-z][a-z-]+", text)}
    named |= {f"{GROUP}/{match[1]}" for match in re.finditer(r"\{GROUP\}/([a-z-]+)", text)}
    made = {f"{GROUP}/v", f"{GROUP}/bundle-id", f"{GROUP}/registry"}
    assert len(named) > 10
    assert named - made <= ANNOTATIONS | LABELS
