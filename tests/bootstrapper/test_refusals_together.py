"""All that is wrong with a machine is told at once, what is wrong with the whole of it first."""

from dataclasses import dataclass

import pytest

from tests.bootstrapper.asking import asked, question, refused


async def test_a_refusal_of_the_whole_machine_comes_first() -> None:
    """Who is told that the machine cannot join its cluster need not read on."""
    one = question("{os: {users: [{name: ann}]}}")
    one.subject.cluster.control_plane = "kubeadm"
    error = await refused(asked(one, "talos"))
    assert error is not None
    first, second = error.violations
    assert (first.feature, second.feature) == ("kubernetes.cluster.control_plane", "os.users")
    assert first.remedy == "have the control plane made by talos too, or choose cloud-init or ignition, which take it"


@dataclass(frozen=True)
class Whole:
    """A machine that cannot be at all, what is told of it first, and the features that are told after that."""

    first: str
    then: str
    spec: str
    provisioner: str = "talos"
    version: str = "v1.34.2"
    role: str = "Worker"


WHOLES = [
    Whole("version of Talos runs", "os.users", "{os: {users: [{name: ann}]}}", version="v1.20.0"),
    Whole("must be talos", "os.users", "{target: {distribution: debian}, os: {users: [{name: ann}]}}"),
    Whole("machine.install.disk", "os.users", "{target: {infrastructure: metal}, os: {users: [{name: ann}]}}"),
    Whole(
        "v1.22",
        "kubernetes.control_plane.kube_proxy.image_tag",
        "{kubernetes: {controlPlane: {kubeProxy: {imageTag: a}}}}",
        provisioner="cloud-init",
        version="v1.20.0",
        role="Init",
    ),
]


@pytest.mark.parametrize("case", WHOLES, ids=lambda case: case.first)
async def test_what_a_provisioner_says_of_the_whole_machine_comes_first(case: Whole) -> None:
    """In the same answer as the fields that are refused: who corrected those first would have done it in vain."""
    one = question(case.spec, role=case.role)
    one.subject.cluster.kubernetes_version = case.version
    one.subject.machine.kubernetes_version = case.version
    error = await refused(asked(one, case.provisioner))
    assert error is not None
    assert case.first in f"{error.violations[0].description} {error.violations[0].remedy}", error.violations
    assert [violation.feature for violation in error.violations[1:]] == [case.then]


async def test_all_that_is_wrong_with_a_machine_of_windows_is_told_at_once() -> None:
    """What no pass lowers, what passes cannot do, and what only Render finds."""
    spec = (
        "{target: {osFamily: Windows}, os: {sysctls: [{name: a.b, value: c}], "
        "users: [{name: ann, uid: 5, sudo: [ALL=ALL]}], "
        "hostname: {name: {value: much-too-long-for-windows}}, files: [{path: /etc/a, content: {text: x}}]}}"
    )
    error = await refused(asked(question(spec), "windows"))
    assert error is not None
    assert [violation.path.rpartition(".os.")[2] for violation in error.violations] == [
        *("users[0]", "users[0]", "sysctls[0]", "files[0]", "hostname"),
    ]


async def test_scripts_that_cannot_run_hide_nothing_else_of_a_machine_of_windows() -> None:
    """What no pass lowers, what Render refuses and what the passes then cannot do, each once."""
    scripts = "{pre: [{script: {text: a}, interpreter: Sh}], post: [{script: {text: b}, interpreter: Sh}]}"
    files = "[{path: /etc/a, content: {text: x}}, {path: /etc/b, content: {text: x}}]"
    system = (
        f"{{files: {files}, sysctls: [{{name: a.b, value: c}}], hostname: {{name: {{value: much-too-long-a-name}}}}}}"
    )
    spec = f"{{target: {{osFamily: Windows}}, commands: {scripts}, os: {system}}}"
    error = await refused(asked(question(spec), "windows"))
    assert error is not None
    paths = sorted(violation.path.rpartition("spec.")[2] for violation in error.violations)
    commands, system = ["commands.post[0]", "commands.pre[0]"], ["files[0]", "files[1]", "hostname", "sysctls[0]"]
    assert paths == [*commands, *(f"os.{name}" for name in system)]


@pytest.mark.parametrize(
    ("version", "kubernetes", "feature"),
    [
        ("v1.34.2", "{controlPlane: {kubeProxy: {imageTag: a}}}", "kubernetes.control_plane.kube_proxy.image_tag"),
        ("v1.20.0", "{}", "KUBERNETES_VERSION_UNSUPPORTED"),
    ],
)
async def test_what_the_engine_refuses_does_not_hide_the_system(version: str, kubernetes: str, feature: str) -> None:
    """Without a plan there is nothing to render; what passes and formats lack is told all the same, and only that."""
    system = (
        "{kernelArguments: [{argument: a}], sysctls: [{name: a.b, value: c}], files: [{path: /a, content: {text: x}}]}"
    )
    commands = "{boot: [{argv: [a]}], pre: [{argv: [a]}], post: [{argv: [a]}]}"
    one = question(f"{{kubernetes: {kubernetes}, commands: {commands}, os: {system}}}", role="Init")
    one.subject.cluster.kubernetes_version = one.subject.machine.kubernetes_version = version
    error = await refused(asked(one, "cloud-init"))
    assert error is not None
    assert [violation.feature for violation in error.violations] == [feature, "os.kernel.arguments"]
