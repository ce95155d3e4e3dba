"""Steps lowered: what is refused, what is kept, and that nothing but the input decides."""

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.bootstrapper.lowering import program_text as programs
from slipway.bootstrapper.lowering.runners.lower_steps import lower_steps
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import literal
from slipway.contract.errors import BundleInvalid, UnsupportedFeature, UnsupportedTarget
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from tests.bootstrapper.lowering.runners.plans import (
    BOOTSTRAP,
    POST,
    PRE,
    PREPARE,
    fact,
    linux,
    lowered,
    note,
    program,
    script,
    text,
    windows,
)

FOLDER = Path(programs.__file__).parent / "programs"
ORIGIN = diagnosticpb.Origin(document="SlipwayConfig/x", path="spec.commands.pre[0]")

INVALID = [
    ("no id", program("", "true")),
    ("an id with a blank", program("a b", "true")),
    ("an id that is a path", program("../a", "true")),
    ("an id that is the mark of the sentinel", program("-", "true")),
    ("an id with a newline", program("a\nb", "true")),
    ("an id with a dollar", program("a$b", "true")),
    ("an id in capital letters", program("A", "true")),
    ("an id that is too long", program("a" * 64, "true")),
    ("no phase", program("a", "true", phase=planpb.PHASE_UNSPECIFIED)),
    ("nothing to run", planpb.Step(id="a", phase=BOOTSTRAP, command=planpb.Command())),
    (
        "two things to run",
        planpb.Step(id="a", phase=BOOTSTRAP, command=planpb.Command(argv=["x"], script=literal(b"y"))),
    ),
    ("an empty program", program("a", "", "x")),
    ("a program that looks like an option", program("a", "-c", "x")),
    ("a NUL in an argument", program("a", "x", "y\0z")),
]


@pytest.mark.parametrize("target", [linux(), windows()], ids=["linux", "windows"])
@pytest.mark.parametrize(("reason", "step"), INVALID, ids=[row[0] for row in INVALID])
def test_unusable_steps_are_refused(reason: str, step: planpb.Step, target: clusterpb.Target) -> None:
    """Nothing that a runner could read in another way gets into a manifest; the error speaks the user's path."""
    step = planpb.Step.FromString(step.SerializeToString())
    step.command.origin.CopyFrom(ORIGIN)
    with pytest.raises(BundleInvalid) as error:
        lower_steps([step], bundle_id="bundle-1", target=target)
    assert error.value.violations[0].path == f"{ORIGIN.document}: {ORIGIN.path}", reason
    assert str(error.value).startswith("SlipwayConfig/x: spec.commands.pre[0]: a step must"), reason


def test_two_steps_with_one_id_are_refused() -> None:
    """A finished step would keep the other from running. A wave's id counts."""
    with pytest.raises(BundleInvalid):
        lowered([note("a", PRE), note("a", POST)])
    with pytest.raises(BundleInvalid):
        lowered([note("files"), Wave(id="files")])


@pytest.mark.parametrize("bundle_id", ["", "a b", "../x", "a/b", "-x", "x\ny", "x" * 129, ".hidden"])
def test_unusable_bundle_ids_are_refused(bundle_id: str) -> None:
    """The id is a word and a folder's name on the machine."""
    with pytest.raises(BundleInvalid):
        lower_steps([note("a")], bundle_id=bundle_id, target=linux())


@pytest.mark.parametrize("family", [planpb.INTERPRETER_CMD, planpb.INTERPRETER_POWERSHELL])
def test_linux_runs_no_windows_scripts(family: planpb.Interpreter.ValueType) -> None:
    """An interpreter that is not there is a refusal, by feature and path."""
    step = script("a", "x", interpreter=family, origin=ORIGIN)
    with pytest.raises(UnsupportedFeature) as error:
        lowered([step])
    assert error.value.metadata["features"].startswith("plan.steps.command.interpreter.")


@pytest.mark.parametrize(
    ("target", "family"),
    [(linux(), planpb.INTERPRETER_CMD), (windows(), planpb.INTERPRETER_SH)],
    ids=["linux", "windows"],
)
def test_all_scripts_without_an_interpreter_are_refused_at_once(
    target: clusterpb.Target, family: planpb.Interpreter.ValueType
) -> None:
    """One answer names all of them, so that they can be corrected together."""
    origins = [diagnosticpb.Origin(path=f"spec.commands.post[{number}]") for number in range(2)]
    steps = [script(f"s-{number}", "x", interpreter=family, origin=origin) for number, origin in enumerate(origins)]
    with pytest.raises(UnsupportedFeature) as error:
        lower_steps([note("a"), *steps], bundle_id="b", target=target)
    assert [violation.path for violation in error.value.violations] == [origin.path for origin in origins]


def test_a_family_without_runner_is_refused() -> None:
    """Steps have no meaning where there is no runner."""
    with pytest.raises(UnsupportedTarget):
        lower_steps([note("a")], bundle_id="b", target=clusterpb.Target())


def test_what_the_plan_says_of_its_entry_point_is_kept() -> None:
    """Unit name, order and drop-ins of an imported plan stay; the argument itself is not changed."""
    said = planpb.EntryPoint(unit_name="kubeadm.service", after_units=["containerd.service"])
    said.drop_ins.add(name="10-x.conf", contents="[Unit]\n")
    before = said.SerializeToString(deterministic=True)
    result = lower_steps([note("a")], bundle_id="b", target=linux(), entrypoint=said).entrypoint
    assert said.SerializeToString(deterministic=True) == before
    assert (result.unit_name, list(result.after_units)) == ("kubeadm.service", ["containerd.service"])
    assert len(result.drop_ins) == 1
    assert list(result.argv) == ["/bin/sh", "/var/lib/slipway/run"]


def test_only_reserved_paths_are_written() -> None:
    """All that lowering adds is below the reserved folder, private to root, and knows who made it."""
    content = contentpb.Content(segments=[text("x"), fact(contentpb.FACT_KIND_HOSTNAME)])
    file = ospb.File(path="/etc/x", content=content, owner="root", group="root", mode=0o644)
    result = lowered([Wave(id="files", files=(file,)), script("a", "true", origin=ORIGIN)])
    assert {one.path.rsplit("/", 1)[0].split("/stage")[0].split("/steps")[0] for one in result.files} == {
        "/var/lib/slipway"
    }
    assert {(one.mode, one.owner, one.group) for one in result.files} == {(0o600, "root", "root")}
    assert all(list(one.origin.made_by) == ["runner"] for one in result.files)
    (step,) = (one for one in result.files if one.path.endswith("/steps/a"))
    assert step.origin.path == ORIGIN.path


def test_paths_are_written_once() -> None:
    """No two lowered files have one path."""
    content = contentpb.Content(segments=[fact(contentpb.FACT_KIND_HOSTNAME)])
    step = planpb.Step(id="s", phase=BOOTSTRAP, command=planpb.Command(script=content, retry_on_boot=True))
    for target in (linux(), windows()):
        files = lower_steps([Wave(id="w"), step], bundle_id="b", target=target).files
        assert len({one.path for one in files}) == len(files)


STEP = st.builds(
    lambda number, phase, argv, retries, reboot, redact: (number, phase, argv, retries, reboot, redact),
    st.integers(0, 10**6),
    st.sampled_from([PREPARE, PRE, BOOTSTRAP, POST]),
    st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=8), max_size=4),
    st.integers(0, 100),
    st.booleans(),
    st.booleans(),
)


@given(st.lists(STEP, max_size=6, unique_by=lambda one: one[0]))
def test_a_manifest_gives_its_steps_back(given_steps: list[tuple[int, int, list[str], int, bool, bool]]) -> None:
    """Read as the runner reads it, a manifest and its scripts give back exactly the plan, ordered by phase."""
    steps = [
        program(f"s{number}", "x", *argv, phase=phase, retries=retries, reboot=reboot, redact_output=redact)
        for number, phase, argv, retries, reboot, redact in given_steps
    ]
    result = lowered(steps)
    assert result == lowered(steps)
    by_path = {file.path: b"".join(one.data for one in file.content.segments).decode() for file in result.files}
    first, *lines = by_path["/var/lib/slipway/plan"].splitlines()
    assert first == "bundle-1"
    assert lines[-1] == "-"
    read = []
    for line in lines[:-1]:
        words = [*line.split(" "), "", "", ""]
        step_id, phase, flags, retries = words[0], words[1], words[2], int(words[3] or 0)
        read.append((step_id, phase, "r" in flags, "x" in flags, retries))
        if step_id != "slipway-resume":
            argv = next(step.command.argv for step in steps if step.id == step_id)
            assert shlex.split(by_path[f"/var/lib/slipway/steps/{step_id}"]) == ["exec", *argv]
    names = {PREPARE: "prepare", PRE: "pre", BOOTSTRAP: "bootstrap", POST: "post"}
    ordered = sorted(steps, key=lambda step: step.phase)
    expected = [
        (one.id, names[one.phase], one.command.reboot, one.command.redact_output, one.command.retries)
        for one in ordered
    ]
    assert [one for one in read if one[0] != "slipway-resume"] == expected


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.sh")))
def test_shell_programs_are_clean(name: str, tmp_path: Path) -> None:
    """Linters find nothing, as kept; every shell reads the program, as sent."""
    sent = tmp_path / name
    sent.write_bytes(programs.program(name))
    assert programs.program(name).isascii()
    for shell in ("dash", "bash", "busybox sh"):
        words = shlex.split(shell)
        if shutil.which(words[0]):
            subprocess.run([*words, "-n", str(sent)], check=True)
    if shutil.which("shellcheck"):
        done = subprocess.run(
            ["shellcheck", "-s", "sh", str(FOLDER / name)], capture_output=True, text=True, check=False
        )
        assert done.stdout == ""
