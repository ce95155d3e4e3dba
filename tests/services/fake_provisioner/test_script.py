"""Scripts are read strictly: what is written wrongly is told, and never a fault that does not happen."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from slipway.fake_provisioner.command import fake
from slipway.fake_provisioner.script import HEALTH, INFO, RENDER, Fault, ScriptError, read_script, step_for

FULL = """
name: acme.example.com
version: 1.2.3
format: acme/v1
kubernetes: Intent
features: [os.files, os.links]
render:
  - {calls: 3, fault: Status, reason: NO_READY_PROVISIONER, retryAfter: 2s, message: later}
  - {calls: 4-5, fault: Hang}
  - {calls: 6, fault: Status, code: DATA_LOSS, fields: [{path: "os.files[0]", feature: os.files, description: bad}]}
  - {calls: 9-, after: 250ms}
info: [{fault: WrongName}]
health: [{calls: "1", fault: NotServing}]
registration: {announce: false, name: other, endpoint: "127.0.0.1:1", instances: 2, renew: false, deregister: false}
"""


def written(folder: Path, text: str) -> Path:
    """Write a script."""
    path = folder / "script.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_everything_that_can_be_said(tmp_path: Path) -> None:
    """Each key arrives."""
    script = read_script(written(tmp_path, FULL))
    assert (script.name, script.version, script.format, script.kubernetes) == (
        "acme.example.com", "1.2.3", "acme/v1", "Intent",
    )  # fmt: skip
    assert script.features == ("os.files", "os.links")
    later, _, loss, _ = script.render
    assert (later.reason, later.retry_after, later.message) == ("NO_READY_PROVISIONER", 2.0, "later")
    assert loss.code is not None
    assert loss.code.name == "DATA_LOSS"
    assert [(field.path, field.feature, field.description) for field in loss.fields] == [
        ("os.files[0]", "os.files", "bad")
    ]
    assert (script.registration.instances, script.registration.renew) == (2, False)


@pytest.mark.parametrize(
    ("number", "fault", "after"),
    [
        (1, Fault.NONE, 0.0),
        (2, Fault.NONE, 0.0),
        (3, Fault.STATUS, 0.0),
        (4, Fault.HANG, 0.0),
        (5, Fault.HANG, 0.0),
        (6, Fault.STATUS, 0.0),
        (7, Fault.NONE, 0.0),
        (9, Fault.NONE, 0.25),
        (1000, Fault.NONE, 0.25),
    ],
)
def test_which_step_counts(number: int, fault: Fault, after: float, tmp_path: Path) -> None:
    """The first that covers the call; without one the call is sound."""
    step = step_for(read_script(written(tmp_path, FULL)).render, number)
    assert (step.fault, step.after) == (fault, after)


def test_a_step_without_calls_is_for_all(tmp_path: Path) -> None:
    """As long as none before it is."""
    script = read_script(written(tmp_path, "render: [{calls: 2, fault: Die}, {fault: Hang}]"))
    assert [step_for(script.render, number).fault for number in (1, 2, 3)] == [Fault.HANG, Fault.DIE, Fault.HANG]


@pytest.mark.parametrize(
    ("text", "where", "reason"),
    [
        ("nmae: x", "nmae", "a key that there is not"),
        ("render: [{fault: Hnag}]", "render.0.fault", "a fault that there is not"),
        ("render: [{fault: WrongName}]", "render: has no fault WrongName", "a fault of another call"),
        ("health: [{fault: BadHash}]", "health: has no fault BadHash", "a fault of another call"),
        ("render: [{fault: Hang, retryAfter: 2s}]", "retryAfter", "an option of another fault"),
        ("render: [{fault: Status}]", "code or a reason", "a status of nothing"),
        ("render: [{fault: Status, reason: NONE_SUCH}]", "table of errors", "a reason that there is not"),
        ("render: [{fault: Status, code: BAD}]", "render.0.code", "a code that there is not"),
        ("render: [{fault: Refuses}]", "needs a feature", "a refusal of nothing"),
        ("render: [{calls: 0, fault: Hang}]", "calls must be", "calls are counted from 1"),
        ("render: [{calls: 2 to 3, fault: Hang}]", "calls must be", "another notation"),
        ("render: [{calls: true, fault: Hang}]", "render.0.calls", "no number"),
        ("render: [{after: 2}]", "duration", "a number without a unit"),
        ("registration: {instances: 0}", "registration.instances", "no instance at all"),
        ("- a list", "script", "no mapping"),
        ("a: [", "must be a YAML file", "no YAML"),
    ],
)
def test_what_is_wrong_is_told(text: str, where: str, reason: str, tmp_path: Path) -> None:
    """By its place in the script."""
    with pytest.raises(ScriptError) as caught:
        read_script(written(tmp_path, text))
    assert where in str(caught.value), reason


def test_every_fault_belongs_to_a_call() -> None:
    """None can never happen."""
    assert set(Fault) == RENDER | INFO | HEALTH


def test_the_schema_names_every_fault_and_key() -> None:
    """So that an editor can help."""
    done = CliRunner().invoke(fake, ["--schema"])
    schema = json.loads(done.output)
    assert set(schema["$defs"]["Fault"]["enum"]) == {fault.value for fault in Fault}
    assert {"calls", "fault", "retryAfter", "expiresIn"} <= set(schema["$defs"]["Step"]["properties"])
    assert set(schema["properties"]) >= {"render", "info", "health", "registration"}


def test_a_wrong_script_is_wrong_usage(tmp_path: Path) -> None:
    """One line, and exit code 2, before anything listens."""
    path = written(tmp_path, "nmae: x")
    done = CliRunner().invoke(fake, ["--script", str(path), "--insecure", "--listen-address", "127.0.0.1:1"])
    assert done.exit_code == 2
    assert "nmae" in done.output
