"""Literal commands, as Cluster API's kubeadm bootstrap provider has them: lines and the one script, both executed."""

import stat

import pytest

from slipway.bootstrapper.lowering.runners.lower_steps import LoweredSteps, lower_steps
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import SecretIndex
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import (
    POST,
    PRE,
    PREPARE,
    SENTINEL,
    fact,
    linux,
    lowered,
    note,
    program,
    script,
    text,
)

STOP, CONTINUE = planpb.FAILURE_POLICY_STOP, planpb.FAILURE_POLICY_CONTINUE
EARLY = planpb.SENTINEL_TIME_AFTER_BOOTSTRAP
UNIT = planpb.EntryPoint(unit_name="kubeadm.service")
CLOUD_CONFIG = planpb.ExecutionPolicy(
    on_pre_failure=CONTINUE,
    on_bootstrap_failure=CONTINUE,
    on_post_failure=CONTINUE,
    sentinel=EARLY,
    literal_commands=True,
)
IGNITION = planpb.ExecutionPolicy(
    on_pre_failure=STOP, on_bootstrap_failure=STOP, on_post_failure=STOP, sentinel=EARLY, literal_commands=True
)
CONFIG = "/run/kubeadm/kubeadm-join-config.yaml"
JOIN = program("20-kubeadm", "kubeadm", "join", "--config", CONFIG)
JOIN_LINE = f"kubeadm join --config {CONFIG} && echo success > {SENTINEL}"
IGNITION_JOIN = program("20-kubeadm", "kubeadm", "join", "--config", "/etc/kubeadm.yml")


def commands(*items: planpb.Step | Wave, policy: planpb.ExecutionPolicy = CLOUD_CONFIG) -> LoweredSteps:
    """Lower for a provisioner that takes command lines."""
    return lower_steps(items, bundle_id="bundle-1", target=linux(), policy=policy, accepts_commands=True)


def lines(result: LoweredSteps) -> list[str]:
    """Give the command lines."""
    return ["".join(segment.text for segment in line.segments) for line in result.entrypoint.commands]


def run_lines(machine: LinuxMachine, result: LoweredSteps, secrets: SecretIndex | None = None) -> None:
    """Do as cloud-init does: write files, then run the lines as one shell script that never stops."""
    machine.write(result.files, secrets)
    machine.path("/runcmd").write_text("#!/bin/sh\n" + "".join(f"{line}\n" for line in lines(result)))
    machine.run(["sh", "/runcmd"])


def ran(machine: LinuxMachine) -> list[str]:
    """Give the steps that ran."""
    path = machine.path("/ran")
    return path.read_text().split() if path.exists() else []


def test_command_lines_are_those_of_today() -> None:
    """User commands stand as written, the bootstrap is the literal line that consumers look for."""
    result = commands(JOIN, script("a", "echo 'x' > /y", PRE), program("b", "systemctl", "start", "a b", phase=POST))
    assert lines(result) == ["echo 'x' > /y", JOIN_LINE, "systemctl start 'a b'"]
    assert result.entrypoint.execution == planpb.EXECUTION_COMMANDS
    assert not result.entrypoint.argv
    assert [file.path for file in result.files] == ["/run/cluster-api/placeholder"]


@pytest.mark.parametrize(
    ("failing", "expected", "sentinel"),
    [
        ("pre", ["pre", "kubeadm", "post"], True),
        ("kubeadm", ["pre", "kubeadm", "post"], False),
        ("post", ["pre", "kubeadm", "post"], True),
    ],
)
def test_command_lines_behave_as_today(
    machine: LinuxMachine,
    failing: str,
    expected: list[str],
    sentinel: bool,
) -> None:
    """No failure stops the next line, and the sentinel stands for kubeadm's success alone."""
    machine.fake("kubeadm", f"echo kubeadm >>/ran; [ kubeadm != {failing} ]")
    steps = [
        script(name, f"echo {name} >>/ran; [ {name} != {failing} ]", phase)
        for name, phase in (("pre", PRE), ("post", POST))
    ]
    run_lines(machine, commands(*steps, JOIN))
    assert ran(machine) == expected
    assert machine.path(SENTINEL).exists() == sentinel


def test_bootstrap_does_not_start_on_a_machine_that_could_not_be_prepared(machine: LinuxMachine) -> None:
    """Staged files, facts and other preparation come first; when they fail there is no kubeadm and no sentinel."""
    machine.fake("kubeadm", "echo kubeadm >>/ran")
    content = contentpb.Content(segments=[text("name: "), fact(contentpb.FACT_KIND_HOSTNAME)])
    wave = Wave(id="files", files=(ospb.File(path=CONFIG, content=content, owner="root", group="root", mode=0o640),))
    result = commands(JOIN, wave, note("ready", PREPARE), note("pre", PRE))
    run_lines(machine, result)
    assert machine.path(CONFIG).read_text() == "name: node-1.example"
    assert ran(machine) == ["ready", "pre", "kubeadm"]
    assert machine.path(SENTINEL).exists()
    machine.boot()
    for name in ("/ran", "/var/lib/slipway/state/bundle-1/files.installed"):
        machine.path(name).unlink()
    machine.host_name = "localhost"
    run_lines(machine, result)
    assert ran(machine) == ["pre"]
    assert not machine.path(SENTINEL).exists()


def test_secrets_and_time_limits_of_command_lines(machine: LinuxMachine) -> None:
    """A script with a secret becomes a private file and is only named; limits hold; quiet steps are quiet."""
    reference = contentpb.Segment(secret_ref=secretpb.SecretReference(name="db", key="password"))
    content = contentpb.Content(segments=[text("echo "), reference, text(" >/kept")])
    secret = planpb.Step(id="secret", phase=PRE, command=planpb.Command(script=content, redact_output=True))
    limited = script("limited", "read x </forever || :; echo late >>/ran", PRE)
    limited.command.timeout.FromSeconds(5)
    result = commands(JOIN, secret, limited)
    assert lines(result)[:2] == [
        "sh /var/lib/slipway/steps/secret >/dev/null 2>&1",
        "timeout -k 9 5 sh /var/lib/slipway/steps/limited",
    ]
    secrets = SecretIndex([secretpb.Secret(name="db", key="password", value=b"hunter2")])
    machine.fake("kubeadm")
    machine.fake("timeout", "exit 124")
    run_lines(machine, result, secrets)
    assert machine.path("/kept").read_text() == "hunter2\n"
    assert stat.S_IMODE(machine.path("/var/lib/slipway/steps/secret").stat().st_mode) == 0o600


def test_a_template_stays_in_its_command_line() -> None:
    """What only cloud-init can render stands where cloud-init renders it, not in a file of the runner's."""
    template = contentpb.ExtensionText(id="cloud-init.slipway.dev/jinja", text="{{ x | y }}")
    content = contentpb.Content(segments=[text("echo "), contentpb.Segment(extension=template), text(" z")])
    step = planpb.Step(id="a", phase=PRE, command=planpb.Command(script=content))
    (line, _) = commands(JOIN, step).entrypoint.commands
    assert [one.extension.text or one.text for one in line.segments] == ["echo ", "{{ x | y }}", " z"]


def test_a_long_line_is_cut_into_segments() -> None:
    """No segment is longer than the contract allows, and together they give the line."""
    long = "echo " + "ü" * 9000
    result = commands(JOIN, script("a", long, PRE))
    assert lines(result)[0] == long
    assert max(len(one.text.encode()) for line in result.entrypoint.commands for one in line.segments) <= 4096


def test_script_is_that_of_today() -> None:
    """One bash script that stops at the first failure, under the unit's name of today, which runs once."""
    result = lowered([IGNITION_JOIN, script("a", "echo pre", PRE), program("b", "x", "a b", phase=POST)], IGNITION)
    (file,) = result.files
    assert (file.path, file.mode) == ("/etc/kubeadm.sh", 0o700)
    assert b"".join(one.data for one in file.content.segments).decode() == (
        "#!/bin/bash\nset -e\necho pre\nkubeadm join --config /etc/kubeadm.yml\n"
        f"mkdir -p /run/cluster-api && echo success > {SENTINEL}\nmv /etc/kubeadm.yml /tmp/\nx 'a b'\n"
    )
    assert list(result.entrypoint.argv) == ["/bin/bash", "/etc/kubeadm.sh"]
    assert result.entrypoint.unit_name == "kubeadm.service"
    assert [drop.contents for drop in result.entrypoint.drop_ins] == ["[Unit]\nConditionPathExists=/etc/kubeadm.yml\n"]


@pytest.mark.parametrize(
    ("failing", "expected", "sentinel"),
    [
        ("prepare", ["prepare"], False),
        ("pre", ["prepare", "pre"], False),
        ("kubeadm", ["prepare", "pre", "kubeadm"], False),
        ("post", ["prepare", "pre", "kubeadm", "post"], True),
    ],
)
def test_script_behaves_as_today(
    machine: LinuxMachine,
    failing: str,
    expected: list[str],
    sentinel: bool,
) -> None:
    """Every failure stops, and the sentinel stands before the post commands."""
    if machine.shell == "busybox":
        pytest.skip("the script of today is for bash")
    machine.fake("kubeadm", f"echo kubeadm >>/ran; [ kubeadm != {failing} ]")
    machine.path("/etc/kubeadm.yml").touch()
    phases = {"prepare": PREPARE, "pre": PRE, "post": POST}
    steps = [script(name, f"echo {name} >>/ran\n[ {name} != {failing} ]", phase) for name, phase in phases.items()]
    result = lowered([*steps, IGNITION_JOIN], IGNITION)
    machine.write(result.files)
    machine.run(result.entrypoint.argv)
    assert ran(machine) == expected
    assert machine.path(SENTINEL).exists() == sentinel
    assert machine.path("/etc/kubeadm.yml").exists() != sentinel


def may_start(machine: LinuxMachine, result: LoweredSteps) -> bool:
    """Give what systemd finds of the unit's condition."""
    (drop_in,) = result.entrypoint.drop_ins
    return machine.path(drop_in.contents.partition("ConditionPathExists=")[2].strip()).exists()


def test_script_starts_where_it_installs_the_configuration_itself(machine: LinuxMachine) -> None:
    """A fact in kubeadm's file does not keep the unit from starting; it runs until the bootstrap has succeeded."""
    if machine.shell == "busybox":
        pytest.skip("the script of today is for bash")
    machine.fake("kubeadm", "cat /etc/kubeadm.yml >>/ran; [ -e /works ]")
    path = "/etc/kubeadm.yml"
    content = contentpb.Content(segments=[text("name: "), fact(contentpb.FACT_KIND_HOSTNAME), text("\n")])
    wave = Wave(id="files", files=(ospb.File(path=path, content=content, owner="root", group="root", mode=0o600),))
    result = lowered([wave, IGNITION_JOIN], IGNITION)
    machine.write(result.files)
    for works, expected in ((False, 1), (True, 2)):
        assert may_start(machine, result)
        if works:
            machine.path("/works").touch()
        machine.run(result.entrypoint.argv)
        assert ran(machine) == ["name:", "node-1.example"] * expected
        machine.boot()
    assert not may_start(machine, result)


@pytest.mark.parametrize(("phase", "is_script"), [(PRE, True), (planpb.PHASE_BOOTSTRAP, True), (POST, False)])
def test_the_script_runs_again_by_itself(phase: planpb.Phase.ValueType, *, is_script: bool) -> None:
    """The unit runs all of it on every boot until the bootstrap has succeeded: that is what such a step asks for."""
    step = script("a", "echo again", phase)
    step.command.retry_on_boot = True
    result = lowered([step, IGNITION_JOIN], IGNITION)
    assert (list(result.entrypoint.argv) == ["/bin/bash", "/etc/kubeadm.sh"]) == is_script


def test_script_keeps_secrets_as_references() -> None:
    """A secret in a user's command stays a reference in the script."""
    reference = secretpb.SecretReference(name="db", key="password")
    content = contentpb.Content(segments=[text("echo "), contentpb.Segment(secret_ref=reference)])
    step = planpb.Step(id="a", phase=PRE, command=planpb.Command(script=content))
    (file,) = lowered([IGNITION_JOIN, step], IGNITION).files
    assert [one.secret_ref for one in file.content.segments if one.WhichOneof("value") == "secret_ref"] == [reference]


RUNNER = [
    ("one script cannot go on", [JOIN], CLOUD_CONFIG, False),
    ("neither can reboot", [program("r", "true", phase=PRE, reboot=True), JOIN], CLOUD_CONFIG, True),
    ("neither can try again", [program("r", "true", phase=PRE, retries=3), JOIN], IGNITION, False),
    ("neither has a late sentinel", [JOIN], planpb.ExecutionPolicy(literal_commands=True), False),
]


@pytest.mark.parametrize(("reason", "steps", "policy", "accepts"), RUNNER, ids=[row[0] for row in RUNNER])
def test_what_a_form_can_not_express_gets_the_runner(
    reason: str,
    steps: list[planpb.Step],
    policy: planpb.ExecutionPolicy,
    accepts: bool,
) -> None:
    """The semantics are kept by the runner, under the unit's name of today."""
    result = lower_steps(
        steps, bundle_id="bundle-1", target=linux(), policy=policy, entrypoint=UNIT, accepts_commands=accepts
    )
    assert list(result.entrypoint.argv) == ["/bin/sh", "/var/lib/slipway/run"], reason
    assert result.entrypoint.unit_name == "kubeadm.service"
    assert not result.entrypoint.commands


def test_a_native_plan_has_none_of_it() -> None:
    """It never gets today's paths, whatever the provisioner takes."""
    result = lower_steps([JOIN], bundle_id="bundle-1", target=linux(), accepts_commands=True)
    assert result.entrypoint.unit_name == "slipway-bootstrap.service"
    assert list(result.entrypoint.argv) == ["/bin/sh", "/var/lib/slipway/run"]
