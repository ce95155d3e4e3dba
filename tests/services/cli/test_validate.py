"""`slipway validate`: each machine alone, and the machines of all files beside each other."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.services.cli.conftest import EXAMPLES, Slipway, with_worker_os

NATIVE = EXAMPLES / "native.yaml"


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.name)
def test_the_examples_are_valid(slipway: Slipway, file: Path) -> None:
    """Without any filling in; a Secret that is not in the files is looked for only when something is rendered."""
    files = ("-f", EXAMPLES / "cluster-aws.yaml") if file.name == "pool-native.yaml" else ()
    assert slipway("validate", *files, "-f", file).exit_code == 0


def test_machines_are_listed(slipway: Slipway) -> None:
    """Who they are, where from, and how many."""
    tree = json.loads(slipway("validate", "-f", EXAMPLES / "cluster-docker.yaml", "-o", "json").stdout)
    assert tree["problems"] == []
    assert [
        (machine["machine"], machine["role"], machine["infrastructure"], machine["replicas"])
        for machine in tree["machines"]
    ] == [
        ("dinghy-control-plane-init", "init", "docker", 1),
        ("dinghy-control-plane-join", "control-plane", "docker", 0),
        ("dinghy-md", "worker", "docker", 2),
        ("dinghy-pool", "worker", "docker", 2),
    ]


def test_a_broken_rule_is_told_with_its_place(slipway: Slipway, write: Callable[..., Path]) -> None:
    """What only the whole spec shows, such as two files of one path, has file, line and column too."""
    text = with_worker_os(
        "    files:\n      - {path: /etc/a, content: {text: a}}\n      - {path: /etc/a, content: {text: b}}\n"
    )
    file = write(text)
    result = slipway("validate", "-f", file, "-o", "json")
    assert result.exit_code == 1
    line = text.splitlines().index("      - {path: /etc/a, content: {text: b}}") + 1
    assert f"invalid: {file}:{line}:9: SlipwayConfig/worker: spec.os.files[1]: claims the same path" in result.stderr
    verdicts = {machine["machine"]: machine["verdict"] for machine in json.loads(result.stdout)["machines"]}
    assert verdicts == {"harbour-cp-0": "valid", "harbour-cp-1": "valid", "harbour-worker": "invalid"}


CLUSTER = """
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayCluster
metadata: {{name: {name}}}
spec:
  cluster: {{kubernetesVersion: {version}, endpoint: {{host: a.example.com}}}}
  machines: [{machines}]
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfig
metadata: {{name: k}}
"""
TOGETHER = [
    ("{name: a, role: Init, config: k}, {name: b, role: Init, config: k}", "machine a begins the same cluster", "two"),
    (
        "{name: a, role: Init, config: k}, {name: b, role: Worker, config: k, kubernetesVersion: v1.35.0}",
        "its Kubernetes version is newer than the control plane's",
        "a worker ahead",
    ),
    (
        "{name: a, role: Init, config: k}, {name: b, role: Worker, config: k, kubernetesVersion: v1.30.9}",
        "more than 3 minor versions behind",
        "a worker far behind",
    ),
    (
        "{name: a, role: Init, config: k}, {name: b, role: ControlPlane, config: k, kubernetesVersion: v1.32.0}",
        "more than one minor version behind",
        "control planes apart",
    ),
    (
        "{name: b, role: Worker, config: k, kubernetesVersion: v1.36.0}",
        "newer than the control plane's",
        "no control plane",
    ),
]


@pytest.mark.parametrize(("machines", "said", "reason"), TOGETHER, ids=[row[-1] for row in TOGETHER])
def test_machines_that_do_not_go_together_are_told(
    slipway: Slipway, write: Callable[..., Path], machines: str, said: str, reason: str
) -> None:
    """Each of the machines may be sound by itself; the place is that of the one that does not fit."""
    file = write(CLUSTER.format(name="c", version="v1.34.2", machines=machines))
    result = slipway("validate", "-f", file, "-o", "json")
    assert result.exit_code == 1, reason
    assert said in result.stderr
    assert f"invalid: {file}:7:" in result.stderr
    told = json.loads(result.stdout)
    assert len(told["problems"]) == 1
    assert {machine["machine"]: (machine["verdict"], machine["problems"]) for machine in told["machines"]}["b"] == (
        "invalid",
        told["problems"],
    )
    assert all(machine["verdict"] == "valid" for machine in told["machines"] if machine["machine"] != "b")
    column = file.read_text().splitlines()[6].rindex("kubernetesVersion" if "kubernetes" in machines else "role") + 1
    assert f":7:{column}: " in told["problems"][0]


def test_programs_get_an_answer_whatever_is_wrong(slipway: Slipway, write: Callable[..., Path]) -> None:
    """What cannot even be read as machines is told in the same form; people have the lines of the error as before."""
    file = write(CLUSTER.format(name="c", version="v1.34.2", machines="{name: a, role: Wrker, config: k}"))
    result = slipway("validate", "-f", file, "-o", "json")
    told = json.loads(result.stdout)
    assert (result.exit_code, told["machines"]) == (1, [])
    assert [problem for problem in told["problems"] if problem.startswith(f"{file}:7:")]
    assert told["problems"][0] in result.stderr
    assert not slipway("validate", "-f", file).stdout


def test_what_the_importer_warns_of_is_a_warning(slipway: Slipway, write: Callable[..., Path]) -> None:
    """Beside the doubts, in the JSON too: every line that begins with "warning" on standard error."""
    text = (EXAMPLES / "cluster-aws.yaml").read_text()
    file = write(text.replace("      preKubeadmCommands:", "      verbosity: 99\n      preKubeadmCommands:", 1))
    result = slipway("validate", "-f", file, "-o", "json")
    said = [line.removeprefix("warning: ") for line in result.stderr.splitlines() if line.startswith("warning: ")]
    assert said
    assert json.loads(result.stdout)["warnings"] == said


FINE = [
    (
        "{name: a, role: Init, config: k}, {name: b, role: Worker, config: k, kubernetesVersion: v1.31.0}",
        "three behind",
    ),
    (
        "{name: a, role: Init, config: k}, {name: b, role: ControlPlane, config: k, kubernetesVersion: v1.33.0}",
        "an upgrade",
    ),
]


@pytest.mark.parametrize(("machines", "reason"), FINE, ids=[row[-1] for row in FINE])
def test_what_kubernetes_allows_is_allowed(
    slipway: Slipway, write: Callable[..., Path], machines: str, reason: str
) -> None:
    """The bounds of the version skew policy are inside."""
    file = write(CLUSTER.format(name="c", version="v1.34.2", machines=machines))
    assert slipway("validate", "-f", file).exit_code == 0, reason


def test_names_are_told_apart_in_all_files(slipway: Slipway, write: Callable[..., Path]) -> None:
    """Two machines of one name would overwrite each other's user data, so no command takes them."""
    one = write(CLUSTER.format(name="c", version="v1.34.2", machines="{name: a, role: Worker, config: k}"), "a.yaml")
    other = write(
        CLUSTER.format(name="d", version="v1.34.2", machines="{name: a, role: Worker, config: j}").replace("k}", "j}"),
        "b.yaml",
    )
    result = slipway("render", "-f", one, "-f", other)
    assert result.exit_code == 1
    assert f"the machine in {one}:7 has the same name" in result.stderr


def test_two_files_make_one_cluster(slipway: Slipway) -> None:
    """A pool in a file of its own belongs to the cluster of the other file, with its version and infrastructure."""
    files = ("-f", EXAMPLES / "cluster-aws.yaml", "-f", EXAMPLES / "pool-native.yaml")
    tree = json.loads(slipway("validate", *files, "-o", "json").stdout)
    (pool,) = [machine for machine in tree["machines"] if machine["machine"] == "lighthouse-gpu"]
    assert (pool["role"], pool["cluster"], pool["kubernetes"]) == ("worker", "lighthouse", "v1.34.2")
    assert (pool["infrastructure"], pool["config"], pool["replicas"]) == ("aws", "SlipwayConfigTemplate/gpu", 2)


SLIPS = [
    ("target: {infrastructure: awss}", "infrastructure: is no infrastructure that this", "did you mean aws?"),
    ("target: {infrastructure: mycloud}", "what it takes at most is not known", "known are aws, azure"),
    ("target: {architecture: x86_64}", "architecture: is no name that Kubernetes has", "did you mean amd64?"),
    ("target: {architecture: arm46}", "architecture: is no name that Kubernetes has", "did you mean arm64?"),
]
SOUND = [
    "target: {infrastructure: aws, architecture: arm64}",
    "os: {users: [{name: a, passwordHash: {value: $6$salt$hash}}]}",
    "os: {users: [{name: a, passwordHash: {value: '!'}}]}",
    "os: {users: [{name: a, passwordHash: {value: '!$y$j9T$salt$hash'}}]}",
    "os: {users: [{name: a, passwordHash: {secretRef: {name: s, key: k}}}]}",
]


@pytest.mark.parametrize(("spec", "said", "advice"), SLIPS, ids=[row[0] for row in SLIPS])
def test_a_likely_slip_is_a_warning(
    slipway: Slipway, write: Callable[..., Path], spec: str, said: str, advice: str
) -> None:
    """A word that nobody here knows lifts a limit, another architecture has other programs."""
    text = CLUSTER.format(name="c", version="v1.34.2", machines="{name: a, role: Worker, config: k}")
    file = write(f"{text}spec:\n  {spec}\n")
    result = slipway("validate", "-f", file, "-o", "json")
    assert result.exit_code == 0, result.stderr
    (warning,) = json.loads(result.stdout)["warnings"]
    assert warning.startswith(f"{file}:13:")
    assert said in warning
    assert advice in warning


@pytest.mark.parametrize("spec", SOUND)
def test_what_is_known_is_no_slip(slipway: Slipway, write: Callable[..., Path], spec: str) -> None:
    """Hashes of every kind, locked accounts, and references; infrastructures and architectures by their names."""
    text = CLUSTER.format(name="c", version="v1.34.2", machines="{name: a, role: Worker, config: k}")
    result = slipway("validate", "-f", write(f"{text}spec:\n  {spec}\n"), "-o", "json")
    assert (result.exit_code, json.loads(result.stdout)["warnings"]) == (0, [])


def test_slips_are_found_in_other_documents_too(slipway: Slipway, write: Callable[..., Path]) -> None:
    """The target of a machine stands with its cluster, a password in a KubeadmConfig."""
    machines = "{name: a, role: Worker, config: k, target: {infrastructure: awss}}"
    file = write(CLUSTER.format(name="c", version="v1.34.2", machines=machines))
    assert f"warning: {file}:7:" in slipway("validate", "-f", file).stderr
    text = (EXAMPLES / "cluster-aws.yaml").read_text()
    changed = text.replace("      - name: harbourmaster\n", "      - name: harbourmaster\n        passwd: hunter2\n", 1)
    result = slipway("validate", "-f", write(changed, "aws.yaml"))
    assert "is not in crypt form" in result.stderr
    assert "hunter2" not in result.output
