"""Mistakes of different kinds are told in one answer, and none that is only the consequence of another."""

import pytest

from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.bootstrapper.documents.mistakes import Mistakes
from slipway.contract.source_position import FieldPath, SourceError
from slipway.contract.yaml_source import load_documents

HEAD = "apiVersion: bootstrap.slipway.dev/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n"
ENDPOINT = "endpoint: {host: api.example.com}, kubernetesVersion: v1.34.2"
FILE = "{path: /a, content: {text: x}}"


def config(spec: str, name: str = "one") -> str:
    """Give a config."""
    return HEAD.format(kind="SlipwayConfig", name=name, spec=spec)


def cluster(machines: str = "{name: a, role: Worker, config: one}", facts: str = ENDPOINT, name: str = "c") -> str:
    """Give a cluster."""
    return HEAD.format(kind="SlipwayCluster", name=name, spec=f"{{cluster: {{{facts}}}, machines: [{machines}]}}")


def wrong(*documents: str) -> list[str]:
    """Give the fields of everything that is told of documents."""
    with pytest.raises(SourceError) as caught:
        read_document_set({"f.yaml": "---\n".join(documents)}, variables={})
    return [one.path for one in caught.value.problems]


def test_mistakes_of_different_kinds_are_told_at_once() -> None:
    """A misspelt key, a value against a rule, an empty list, what means nothing, and a reference to nothing."""
    spec = (
        "{os: {sysctl: [], files: [{path: a/b, content: {text: x}}]}, "
        "join: {commands: {pre: []}}, commands: {pre: [{}]}}"
    )
    machines = "{name: a, role: Worker, config: one}, {name: b, role: Worker, config: another}"
    told = wrong(cluster(machines), config(spec))
    assert told == [
        "spec.os.sysctl",
        "spec.os.files[0].path",
        "spec.join.commands.pre",
        "spec.commands.pre[0]",
        "spec.machines[1].config",
    ]


FOLLOWING = [
    (
        "a required field that is misspelt",
        f"{{os: {{files: [{{pth: /a, content: {{text: x}}}}, {FILE}]}}}}",
        "files[0].pth",
    ),
    ("one of two that is misspelt", "{os: {files: [{path: /a, contents: {text: x}}]}}", "files[0].contents"),
    ("a text that is misspelt", "{os: {hostname: {name: {valu: x}}}}", "hostname.name.valu"),
    (
        "a hash that allows a scheme",
        "{os: {files: [{path: /a, remote: {urls: ['http://a.example'], sha25: x}}]}}",
        "files[0].remote.sha25",
    ),
    (
        "the size of one of two partitions",
        "{os: {disks: [{device: /dev/vdb, partitions: [{label: a, sizMib: 5}, {label: b}]}]}}",
        "disks[0].partitions[0].sizMib",
    ),
    ("an entry that is none", "{os: {files: [null, {path: b}]}}", "files[0]"),
    ("what makes an entry another one", "{os: {files: [{path: /a, content: {text: x}}, {path: 5}]}}", "files[1].path"),
    ("a list that is misspelt", "{join: {os: {sysctl: []}}}", "join.os.sysctl"),
]


@pytest.mark.parametrize(("reason", "spec", "path"), FOLLOWING, ids=[case[0] for case in FOLLOWING])
def test_what_follows_from_a_mistake_is_not_told(reason: str, spec: str, path: str) -> None:
    """One mistake, one line."""
    assert [one.removeprefix("spec.").removeprefix("os.") for one in wrong(cluster(), config(spec))] == [path], reason


REFERENCES = [
    ("the name of a config", cluster("{name: a, role: Worker, confg: one}"), "spec.machines[0].confg"),
    ("the list of machines", cluster().replace("machines:", "machine:"), "spec.machine"),
    ("the facts of the cluster", cluster().replace("cluster:", "clustr:"), "spec.clustr"),
]


@pytest.mark.parametrize(("reason", "text", "path"), REFERENCES, ids=[case[0] for case in REFERENCES])
def test_what_a_hidden_name_refers_to_is_not_told(reason: str, text: str, path: str) -> None:
    """Two clusters: a config that none of them seems to name would belong to nobody."""
    other = cluster("{name: b, role: Worker, config: two}", name="d")
    assert wrong(text, other, config("{}"), config("{}", "two")) == [path], reason


def test_references_wait_for_names() -> None:
    """A config whose own name cannot be read is not missing."""
    assert wrong(cluster(), config("{os: {sysctl: []}}", "5")) == ["metadata.name"]


def test_a_config_map_that_may_be_at_hand_is_not_told() -> None:
    """Only whoever has all documents knows which there are."""
    spec = "{os: {files: [{path: /a, content: {configMapRef: {name: m, key: k}}}], sysctl: []}}"
    assert wrong(cluster(), config(spec)) == ["spec.os.sysctl"]


NEAR: list[tuple[str, FieldPath, FieldPath, bool]] = [
    ("the field itself", ("a", "b"), ("a", "b"), False),
    ("in the field", ("a", "b"), ("a", "b", "x", "y"), False),
    ("what holds it", ("a", "b"), ("a",), False),
    ("a field beside it", ("a", "b"), ("a", "c"), False),
    ("an entry beside it", ("a", "b"), ("a", "c", 1), False),
    ("deeper in what is written beside it", ("a", "b"), ("a", "c", 1, "x"), True),
    ("deeper in what is not written", ("a", "b"), ("a", "d", "x", "y"), False),
    ("elsewhere", ("a", "b"), ("e", "x"), True),
    ("another entry, as a whole", ("a", "c", 0, "x"), ("a", "c", 1), False),
    ("a field of another entry", ("a", "c", 0, "x"), ("a", "c", 1, "x"), True),
    ("in a list with an entry that is none", ("a", "c", 0), ("a", "c", 1, "x", "y", "z"), False),
]


@pytest.mark.parametrize(("reason", "earlier", "later", "told"), NEAR, ids=[case[0] for case in NEAR])
def test_what_may_follow_is_what_is_near(reason: str, earlier: FieldPath, later: FieldPath, told: bool) -> None:
    """Nearness is of the document as it is written."""
    (document,) = load_documents("a: {b: 1, c: [{x: 1}, {x: {y: {z: 1}}}]}\ne: {x: 1}\n", file="f.yaml")
    mistakes = Mistakes(document.source)
    mistakes.add([(earlier, "first")])
    mistakes.add_apart([(later, "second")])
    assert (len(mistakes.problems) == 2) is told, reason
