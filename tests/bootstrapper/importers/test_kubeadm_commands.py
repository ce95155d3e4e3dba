"""Commands of a config keep their phases, their shell, and what the format does when one fails."""

import json

import pytest

from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import plan_pb2 as planpb
from tests.bootstrapper.importers.carrying import IGNITION, carried, codes

POLICIES = [
    ("", planpb.FAILURE_POLICY_CONTINUE, "cloud-config"),
    ("format: cloud-config", planpb.FAILURE_POLICY_CONTINUE, "cloud-config"),
    (IGNITION, planpb.FAILURE_POLICY_STOP, "ignition"),
]


@pytest.mark.parametrize(("spec", "policy", "name"), POLICIES)
def test_the_semantics_of_the_format_are_kept(spec: str, policy: planpb.FailurePolicy.ValueType, name: str) -> None:
    """A failing command stops an ignition machine and no other; the sentinel follows kubeadm; paths stay."""
    got = carried(spec + "\nverbosity: 1").spec
    assert {got.execution.on_pre_failure, got.execution.on_bootstrap_failure, got.execution.on_post_failure} == {policy}
    assert got.execution.sentinel == planpb.SENTINEL_TIME_AFTER_BOOTSTRAP
    assert got.execution.literal_commands
    assert (got.imported.format, got.imported.kind) == (name, "KubeadmConfig")


def test_commands_keep_their_phases_and_facts() -> None:
    """Commands become scripts of their phase, each with its place."""
    got = carried(
        """
        bootCommands: [b]
        preKubeadmCommands: ["hostnamectl set-hostname '{{ local_hostname }}'", "echo ${X}"]
        postKubeadmCommands: [c]
        """
    ).spec.commands
    assert (got.boot[0].script.text, got.post[0].script.text, got.pre[1].script.text) == ("b", "c", "echo ${X}")
    assert [segment.WhichOneof("value") for segment in got.pre[0].script.segments] == ["text", "fact", "text"]
    assert got.pre[1].origin.path == "spec.preKubeadmCommands[1]"
    assert got.pre[1].interpreter == planpb.INTERPRETER_SH
    assert not got.pre[0].HasField("retry_on_boot")


TOGETHER = [
    (["export A=1", "echo $A"], 1, "an export lasts"),
    (["echo a", "cd /tmp", "tar x"], 2, "from the first on that leaves something"),
    (["A=$(date)", "echo $A"], 1, "an assignment"),
    (["for x in 1; do", "echo $x", "done"], 1, "a loop over several commands"),
    (["if A=$(hostname); then :; fi", "echo $A"], 1, "an assignment as a condition"),
    (["if false; then :; elif A=1; then :; fi", "echo $A"], 1, "one as another condition"),
    (["until A=$(hostname); do sleep 1; done", "echo $A"], 1, "one as the condition of a loop"),
    (["while A=1; do break; done", "echo $A"], 1, "one as the condition of the other loop"),
    (["while getopts ab o; do :; done", "echo $OPTIND"], 1, "a condition that changes the shell"),
    (["IFS== read -r K V < /etc/os-release", "echo $K"], 1, "an assignment before what changes the shell"),
    (["2>/dev/null export A=1", "echo $A"], 1, "a redirection before it"),
    (["'export' A=1", "echo $A"], 1, "quotes around it"),
    (["sleep 1 &", "wait $!"], 1, "a job that is waited for"),
    (["a && b 2>&1", "curl 'https://x.example/?a=1&b=2' &>/x", "IFS=: env", "sh -c 'sleep 1 &'"], 4, "no job of it"),
    (["A=1 echo a", "echo b && mkdir -p /x", "for s in $(ls); do $s; done"], 3, "nothing is left behind"),
    (["echo a", ""], 1, "an empty command does nothing"),
]


@pytest.mark.parametrize(("commands", "count", "reason"), TOGETHER)
def test_commands_that_share_a_shell_stay_together(commands: list[str], count: int, reason: str) -> None:
    """Today all commands of a phase run in one shell; what depends on that still works."""
    got = carried(f"preKubeadmCommands: {commands!r}").spec.commands.pre
    assert len(got) == count, reason


def test_ignition_commands_stop_at_a_failure_and_are_tried_again() -> None:
    """A script of several commands keeps `set -e`, and the next boot repeats what failed."""
    got = carried(IGNITION + "preKubeadmCommands: ['export A=1', 'false', 'echo $A']").spec.commands.pre
    assert [command.script.text for command in got] == ["set -e\nexport A=1\nfalse\necho $A\n"]
    assert got[0].retry_on_boot


def test_windows_commands_are_for_cmd() -> None:
    """Paths of Windows tell the system, and its commands are the command processor's."""
    got = carried("files: [{path: 'C:\\k\\a.txt', content: x}]\npreKubeadmCommands: ['set A=1', 'echo %A%']")
    assert got.spec.target.os_family == clusterpb.OS_FAMILY_WINDOWS
    assert [command.interpreter for command in got.spec.commands.pre] == [planpb.INTERPRETER_CMD] * 2
    assert codes(got) == ["WINDOWS"]


FILLED = """
    format: ignition
    preKubeadmCommands:
    - envsubst < /etc/kubeadm.yml > /etc/kubeadm.yml.tmp
    - mv /etc/kubeadm.yml.tmp /etc/kubeadm.yml
    - echo done
    joinConfiguration: {nodeRegistration: {name: NAME}}
"""


def test_names_that_envsubst_fills_in_are_facts() -> None:
    """The idiom becomes a fact, and its commands go."""
    got = carried(FILLED.replace("NAME", "'${COREOS_EC2_HOSTNAME}'"))
    assert [segment.fact.kind for segment in got.spec.kubernetes.node.name.segments] == [1]
    assert [command.script.text for command in got.spec.commands.pre] == ["echo done"]
    assert codes(got) == ["MACHINE_FACT", "MACHINE_FACT"]
    assert not got.spec.imported.bound_by


def test_what_means_no_fact_binds_the_config() -> None:
    """With one variable that nobody knows all stays as it is, and only the own format can be rendered."""
    got = carried(FILLED.replace("NAME", "'${MY_NAME}-${COREOS_EC2_HOSTNAME}'"))
    (segment,) = got.spec.kubernetes.node.name.segments
    assert segment.text == "${MY_NAME}-${COREOS_EC2_HOSTNAME}"
    assert len(got.spec.commands.pre) == 3
    assert [origin.path for origin in got.spec.imported.bound_by] == [
        "spec.preKubeadmCommands[0]",
        "spec.preKubeadmCommands[1]",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "case $(uname -m) in x86_64) ARCH=amd64;; esac",
        "for ARCH in amd64; do :; done",
        "A=1 B=2",
        "! cd /tmp",
        "time export A=1",
        "exit 0",
    ],
)
def test_what_lasts_in_the_shell_keeps_commands_together(text: str) -> None:
    """In a format with a process for each command, too, what comes behind sees the same shell as today."""
    spec = f"preKubeadmCommands: [{json.dumps(text)}, 'echo $ARCH']"
    assert len(carried(spec).spec.commands.pre) == 1


def test_other_commands_stay_apart() -> None:
    """An assignment for one program alone lasts no longer than that."""
    spec = "preKubeadmCommands: ['A=1 B=2 env', 'echo for a while', '(exit 1) || true']"
    assert len(carried(spec).spec.commands.pre) == 3
