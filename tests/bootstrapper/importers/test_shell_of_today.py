"""Commands of an imported config see the shell that they see today, whatever earlier ones leave behind in it.

Both scripts are run: the lines that the kubeadm provider gives to cloud-init, as cloud-init makes one script of them,
and ours.
"""

import json

import pytest

from slipway.bootstrapper.lowering.runners.lower_steps import LoweredSteps, lower_steps
from slipway.contract.content import SecretIndex
from slipway.contract.source_position import SourceError
from slipway.v1alpha1 import plan_pb2 as planpb
from tests.bootstrapper.importers.carrying import carried
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import linux, program

pytestmark = pytest.mark.long

JINJA, NAME = "{{ ds.meta_data.hostname }}", "node-1.example"
CONFIG = "/run/kubeadm/kubeadm-join-config.yaml"
SHOW = 'echo "HOST ?=$? A=$A umask=$(umask) pwd=$(pwd) flags=$- open=$(ulimit -n) args=$* $(f 2>/dev/null)" >>/seen'
KUBEADM = 'echo "kubeadm A=$A umask=$(umask) pwd=$(pwd) open=$(ulimit -n) path=$PATH" >>/seen'
BEFORE = {
    "export": ["export A=1"],
    "assignment": ["A=1"],
    "assignment for one command": ["A=1 true"],
    "exported assignment later": ["A=1", "export A"],
    "umask": ["umask 077"],
    "cd": ["cd /tmp"],
    "cd in a subshell": ["(cd /tmp; A=2; umask 0)"],
    "in the background": ["A=2 &", "wait"],
    "after and": ["true && cd /tmp"],
    "flags": ["set -e", "true"],
    "stops at a failure": ["set -e", "false"],
    "unset variables": ["set -u"],
    "function": ["f() { echo f; }"],
    "sourced": ["printf 'A=7\\nf() { echo g; }\\n' > /tmp/x", ". /tmp/x"],
    "eval": ["eval 'A=3; export A'"],
    "trap": ["trap 'echo bye >>/seen' EXIT"],
    "exec of a program": ["exec true"],
    "exec of a redirection": ["exec >/seen 2>&1", "echo redirected"],
    "ulimit": ["ulimit -n 64"],
    "alias": ["alias true='A=5'", "true"],
    "exit": ["exit 3"],
    "status": ["false"],
    "quoted": ["echo 'export A=1'", 'echo "cd /tmp"'],
    "comment": ["# cd /tmp; export A=1"],
    "read": ["read A </etc/hostname || A=none"],
    "default": [": ${A:=4}"],
    "arguments": ["set -- a b"],
    "in a loop": ["for i in 1 2; do A=$i; done"],
    "search path": ["export PATH=/opt/bin:$PATH"],
    "nothing": [],
}
AROUND = {
    "loop": (["for i in 1 2; do"], ["done"]),
    "condition": (["if true; then"], ["fi"]),
    "group": (["{ A=1", "cd /tmp"], ["}"]),
    "subshell": (["( cd /tmp; A=1"], [")"]),
    "here-document": (["cat >>/seen <<EOF"], ["EOF"]),
    "quotation": (["echo 'a"], ["' >>/seen"]),
    "continued": (["echo a \\"], ["echo b"]),
    "and": (["true &&"], []),
    "function": (["g() {"], ["}", "g"]),
    "case": (["case a in a)"], [";; esac"]),
}


def ours(pre: list[str], post: list[str]) -> LoweredSteps:
    """Give what an imported config becomes."""
    text = "joinConfiguration: {nodeRegistration: {name: node}}\n"
    text += f"preKubeadmCommands: {json.dumps(pre)}\npostKubeadmCommands: {json.dumps(post)}"
    spec = carried(text).spec
    steps = [program("20-kubeadm", "kubeadm", "join", "--config", CONFIG)]
    for phase, commands in ((planpb.PHASE_PRE, spec.commands.pre), (planpb.PHASE_POST, spec.commands.post)):
        name = planpb.Phase.Name(phase).removeprefix("PHASE_").lower()
        steps += [
            planpb.Step(id=f"{name}-{index:02}", phase=phase, command=command) for index, command in enumerate(commands)
        ]
    return lower_steps(steps, bundle_id="b", target=linux(), policy=spec.execution, accepts_commands=True)


def seen(machine: LinuxMachine, lines: list[str]) -> tuple[int, str]:
    """Run one script as cloud-init does; give its status and what it has seen."""
    machine.path("/runcmd").write_text("#!/bin/sh\n" + "".join(f"{line}\n" for line in lines))
    (machine.root / "seen").unlink(missing_ok=True)
    status = machine.run(["sh", "/runcmd"])
    path = machine.path("/seen")
    return status, path.read_text() if path.exists() else ""


def both(machine: LinuxMachine, pre: list[str], post: list[str]) -> list[tuple[int, str]]:
    """Give what the commands see today, and what they see with us."""
    machine.fake("kubeadm", KUBEADM)
    machine.path("/etc/hostname").write_text("h\n")
    machine.path("/run/cluster-api").mkdir()
    kubeadm = f"kubeadm join --config {CONFIG}  && echo success > /run/cluster-api/bootstrap-success.complete"
    today = [*(one.replace("HOST", NAME) for one in pre), kubeadm, *(one.replace("HOST", NAME) for one in post)]
    mine = ours(*([one.replace("HOST", JINJA) for one in lines] for lines in (pre, post)))
    result = [seen(machine, today)]
    machine.write(mine.files, SecretIndex([]))
    lines = ["".join(segment.text for segment in line.segments) for line in mine.entrypoint.commands]
    return [*result, seen(machine, lines)]


@pytest.mark.parametrize("name", BEFORE)
def test_what_is_left_behind_reaches_all_that_follows(machine: LinuxMachine, name: str) -> None:
    """A command with a machine fact, kubeadm and the commands after it see the shell of today, exit code and all."""
    today, mine = both(machine, [*BEFORE[name], SHOW, SHOW.replace("HOST", "again")], [SHOW])
    assert mine == today
    assert "HOST" not in mine[1]


@pytest.mark.parametrize("name", BEFORE)
def test_a_command_with_a_fact_leaves_it_too(machine: LinuxMachine, name: str) -> None:
    """The same is so for a command that holds the fact itself."""
    pre = [*(f"{one}; : HOST" if not one.startswith("#") and not one.endswith("&") else one for one in BEFORE[name])]
    today, mine = both(machine, [*pre, SHOW.replace("HOST", "x")], ["echo $A HOST >>/seen"])
    assert mine == today


@pytest.mark.parametrize("name", AROUND)
def test_what_begins_in_one_item_and_ends_in_another_is_whole(machine: LinuxMachine, name: str) -> None:
    """Items that only together are a command stay together around a fact."""
    before, after = AROUND[name]
    today, mine = both(machine, [*before, "echo HOST >>/seen", *after, SHOW], [SHOW])
    assert mine == today


def test_what_spans_kubeadm_holds_no_fact() -> None:
    """What begins before kubeadm and ends after it is refused where a command of it holds a fact, by its place."""
    with pytest.raises(SourceError, match="must end in the same list") as caught:
        ours(["echo a", "if true; then", f"echo {JINJA}"], ["fi"])
    assert [problem.path for problem in caught.value.problems] == ["spec.preKubeadmCommands[1]"]
    assert ours(["if true; then"], ["fi"]).entrypoint.commands


def test_jinja_stays_where_nothing_else_works() -> None:
    """For a machine of a manifest such commands are cloud-init's business, as today."""
    text = f"preKubeadmCommands: {json.dumps(['if true; then', f'echo {JINJA}'])}\npostKubeadmCommands: [fi]"
    (_, command) = carried(text, whole=True).spec.commands.pre[0], carried(text, whole=True).spec.commands.pre[-1]
    assert {segment.WhichOneof("value") for segment in command.script.segments} == {"text", "extension"}
