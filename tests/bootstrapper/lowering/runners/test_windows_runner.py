"""The Windows runner's programs and data.

No PowerShell is at hand: a grammar checks the programs, and their data is read back.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import tree_sitter
import tree_sitter_powershell

from slipway.bootstrapper.lowering import program_text as programs
from slipway.bootstrapper.lowering.facts import facts_step
from slipway.bootstrapper.lowering.runners.lower_steps import lower_steps
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import literal
from slipway.contract.errors import UnsupportedFeature
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from tests.bootstrapper.lowering.runners.plans import (
    BOOTSTRAP,
    POST,
    PRE,
    PREPARE,
    fact,
    program,
    script,
    text,
    windows,
)

ROOT = "C:\\ProgramData\\slipway"
FOLDER = Path(programs.__file__).parent / "programs"
CONTINUE, EARLY = planpb.FAILURE_POLICY_CONTINUE, planpb.SENTINEL_TIME_AFTER_BOOTSTRAP


def lowered(*items: planpb.Step | Wave, policy: planpb.ExecutionPolicy | None = None) -> dict[str, bytes]:
    """Lower a plan for Windows; give the files' literal content by path below the root."""
    result = lower_steps(items, bundle_id="bundle-1", target=windows(), policy=policy)
    assert {file.mode for file in result.files} == {0o600}
    return {
        file.path.removeprefix(f"{ROOT}\\"): b"".join(one.data for one in file.content.segments)
        for file in result.files
    }


def problems(source: bytes) -> list[str]:
    """Give the places where the grammar of PowerShell does not fit."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language()))

    def walk(node: tree_sitter.Node) -> Iterator[str]:
        if node.is_error or node.is_missing:
            yield f"line {node.start_point.row + 1}: {node.text!r}"
        for child in node.children:
            yield from walk(child)

    return list(walk(parser.parse(source).root_node))


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.ps1")))
def test_programs_are_powershell(name: str) -> None:
    """Every program parses, as it is kept and as it is sent; it is ASCII, and no line holds two statements."""
    kept = (FOLDER / name).read_bytes()
    sent = programs.program(name)
    assert problems(kept) == []
    assert problems(sent) == []
    assert sent.isascii()
    assert not re.search(rb"^[^'\"#]*;", sent, re.MULTILINE)


def test_no_try_starts_and_no_failure_is_told_while_the_system_goes_down() -> None:
    """Each start of a step, and the record of a failure, has the question before it whether the system goes down."""
    lines = programs.program("run.ps1").decode().splitlines()
    events = ("Write-Event 'STARTED' $step", "Write-Event 'RETRYING' $step $code")
    starts = [number for number, line in enumerate(lines) if line in events]
    assert [lines[number + 1] for number in starts] == ["$code = Invoke-Step $step"] * 2
    guarded = [*starts, lines.index("$end = 'FAILED'")]
    assert [lines[number - 1] for number in guarded] == ["Wait-Shutdown"] * 3
    assert sum("Invoke-Step $" in line for line in lines) == 2


def test_the_runner_is_small() -> None:
    """User data of Windows holds the runner in base64, which compresses badly: each byte of it counts."""
    assert len(programs.program("run.ps1")) <= 5850


def test_the_grammar_check_can_fail() -> None:
    """A missing brace is seen."""
    assert problems(b"if ($a) {\n  exit 1\n")
    assert problems(programs.program("run.ps1").replace(b"$complete = $false\n", b"$complete = = {\n"))


def test_facts_script_is_powershell_with_data_as_json() -> None:
    """The script for facts parses, and the table's rows stand in it as JSON that gives them back."""
    kinds = [contentpb.FACT_KIND_LOCAL_HOSTNAME, contentpb.FACT_KIND_PROVIDER_ID]
    for infrastructure in ("aws", "azure", "gcp", "vsphere"):
        wanted = kinds if infrastructure != "vsphere" else kinds[:1]
        source = facts_step(wanted, windows(infrastructure)).command.script.segments[0].data
        assert problems(source) == []
        data = source.decode().splitlines()[-1].removeprefix("Find-Facts '").removesuffix("'").replace("''", "'")
        facts = json.loads(data)["facts"]
        assert [one["name"] for one in facts] == ["local-hostname", "provider-id"][: len(wanted)]
        for one in facts:
            assert re.search(rf"^function {one['call'][0]} \{{$".encode(), source, re.MULTILINE)


def test_manifest_holds_the_steps_in_order() -> None:
    """Phases are in order, the sentinel is last, and every property of a step is there."""
    timed = program(
        "join", "kubeadm.exe", "join", "--config", "C:\\run\\kubeadm\\x y.yaml", redact_output=True, retries=2
    )
    timed.command.timeout.FromMilliseconds(1500)
    files = lowered(script("post", "exit 0", POST), timed, script("pre", "exit 0", PRE))
    plan = json.loads(files["plan.json"])
    assert plan["id"] == "bundle-1"
    assert [step.get("id", "sentinel") for step in plan["steps"]] == ["pre", "join", "post", "sentinel"]
    assert plan["steps"][1] == {
        "id": "join",
        "phase": "bootstrap",
        "program": "kubeadm.exe",
        "arguments": 'join --config "C:\\run\\kubeadm\\x y.yaml"',
        "timeout": 2,
        "retries": 2,
        "flags": "x",
    }
    assert files["plan.json"].isascii()
    assert files["run.ps1"] == programs.program("run.ps1")


def test_legacy_policy() -> None:
    """An imported policy stands in the flags and in the place of the sentinel."""
    policy = planpb.ExecutionPolicy(
        on_pre_failure=CONTINUE, on_bootstrap_failure=CONTINUE, on_post_failure=CONTINUE, sentinel=EARLY
    )
    steps = [
        script(name, "exit 0", phase) for name, phase in (("a", PREPARE), ("b", PRE), ("c", BOOTSTRAP), ("d", POST))
    ]
    plan = json.loads(lowered(*steps, policy=policy)["plan.json"])
    assert [step.get("flags", "sentinel") for step in plan["steps"]] == ["", "c", "s", "sentinel", "c"]


def test_scripts_are_started_by_their_own_interpreter() -> None:
    """CMD text runs under cmd, PowerShell text and text without a choice under PowerShell; POSIX text is refused."""
    cmd = script("a", "echo %X%\r\n", interpreter=planpb.INTERPRETER_CMD)
    powershell = script("b", "exit 3\n", interpreter=planpb.INTERPRETER_POWERSHELL)
    files = lowered(cmd, powershell, script("c", "exit 0"))
    assert files["steps\\a.cmd"] == b"echo %X%\r\n"
    assert files["steps\\b.ps1"] == b"exit 3\n"
    plan = json.loads(files["plan.json"])
    assert plan["steps"][0]["program"] == "cmd.exe"
    assert plan["steps"][0]["arguments"] == f"/d /c {ROOT}\\steps\\a.cmd"
    assert plan["steps"][2]["arguments"].endswith(f"-File {ROOT}\\steps\\c.ps1")
    with pytest.raises(UnsupportedFeature):
        lowered(script("d", "true", interpreter=planpb.INTERPRETER_SH))


def test_powershell_text_that_is_not_ascii_gets_a_byte_order_mark() -> None:
    """Windows PowerShell takes a script without the mark for the legacy code page."""
    assert lowered(script("a", "Write-Output 'ünï'"))["steps\\a.ps1"].startswith(b"\xef\xbb\xbfWrite")


def test_task_for_later_boots_is_there_only_when_a_step_needs_one() -> None:
    """Without such a step no task is made; with one it is made before everything else."""
    assert "slipway-resume" not in lowered(script("a", "exit 0"))["plan.json"].decode()
    plan = json.loads(lowered(script("a", "exit 0", PREPARE, reboot=True))["plan.json"])
    first = plan["steps"][0]
    assert (first["id"], first["program"]) == ("slipway-resume", "schtasks.exe")
    started = f"powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File {ROOT}\\run.ps1"
    assert f'/TR "{started}"' in first["arguments"]
    assert len(started) <= 261
    assert plan["steps"][1]["flags"] == "r"


def test_entry_point_starts_the_runner() -> None:
    """The entry point is the program with its arguments, for no shell in between."""
    result = lower_steps([script("a", "exit 0")], bundle_id="bundle-1", target=windows())
    assert next(iter(result.entrypoint.argv)) == "powershell.exe"
    assert list(result.entrypoint.argv)[-2:] == ["-File", f"{ROOT}\\run.ps1"]
    assert result.entrypoint.execution == planpb.EXECUTION_RUNNER


def test_wave_states_the_meaning_of_modes() -> None:
    """No bit for group and others means Administrators and SYSTEM only; slashes become backslashes."""

    def file(path: str, mode: int, **more: object) -> ospb.File:
        return ospb.File(
            **{"path": path, "content": literal(b"x"), "owner": "root", "group": "root", "mode": mode, **more}
        )

    content = contentpb.Content(
        segments=[text("n="), fact(contentpb.FACT_KIND_HOSTNAME, contentpb.SPLICE_ENCODING_JSON_STRING)]
    )
    remote = ospb.RemoteContent(urls=["https://a.example/x"], sha256="ab" * 32)
    fetched = file("C:\\t.exe", 0o755)
    fetched.ClearField("content")
    fetched.remote.CopyFrom(remote)
    wave = Wave(
        id="files",
        directories=(ospb.Directory(path="C:/k/d", owner="root", group="root", mode=0o700),),
        files=(
            file("c:/k/azure.json", 0o600),
            file("C:\\log", 0o644, append=True, owner="alice", content=content),
            fetched,
        ),
        protected=("C:/k/by-the-provisioner",),
    )
    files = lowered(wave)
    assert json.loads(files["stage\\files\\list.json"])["items"] == [
        {"kind": "directory", "path": "C:\\k\\d", "protected": True},
        {"kind": "file", "path": "c:\\k\\azure.json", "parts": [{"part": "1"}], "protected": True},
        {
            "kind": "append",
            "path": "C:\\log",
            "parts": [{"part": "2"}, {"fact": "hostname", "encoding": "json"}],
            "owner": "alice",
        },
        {
            "kind": "file",
            "path": "C:\\t.exe",
            "parts": [],
            "remote": [{"algorithm": "SHA256", "hash": "AB" * 32, "url": "https://a.example/x"}],
        },
        {"kind": "protect", "path": "C:\\k\\by-the-provisioner", "protected": True},
    ]
    assert files["stage\\files\\2"] == b"n="
    plan = json.loads(files["plan.json"])
    assert [step.get("id") for step in plan["steps"]] == ["machine-facts", "files", None]
    assert plan["steps"][1]["arguments"].endswith(f"-File {ROOT}\\install.ps1 files")


def test_a_script_with_a_fact_is_put_together_before_it_runs() -> None:
    """The pieces are a wave of their own in the script's phase, and the step starts what the wave has made."""
    content = contentpb.Content(segments=[text("echo "), fact(contentpb.FACT_KIND_LOCAL_HOSTNAME)])
    step = planpb.Step(id="join", phase=BOOTSTRAP, command=planpb.Command(script=content))
    files = lowered(step)
    plan = json.loads(files["plan.json"])
    assert [(one.get("id"), one.get("phase")) for one in plan["steps"]] == [
        ("machine-facts", "prepare"),
        ("join-script", "bootstrap"),
        ("join", "bootstrap"),
        (None, None),
    ]
    items = json.loads(files["stage\\join-script\\list.json"])["items"]
    assert items[0]["path"] == f"{ROOT}\\steps\\join.ps1"
    assert "steps\\join.ps1" not in files


@pytest.mark.parametrize(
    "argument", ["two words", 'a "quote"', "back\\", 'end\\"', "ünï", "", "a&b|c>d", "%PATH%", "new\nline"]
)
def test_hostile_arguments_stay_one_argument(argument: str) -> None:
    """The line is read back by the rules of the Microsoft C runtime into the same arguments."""
    plan = json.loads(lowered(program("a", "x.exe", "first", argument, "last"))["plan.json"])
    assert msvc_arguments(plan["steps"][0]["arguments"]) == ["first", argument, "last"]


def msvc_arguments(line: str) -> list[str]:
    """Split a line as documented for the Microsoft C runtime: backslashes count only in front of a quote."""
    arguments: list[str] = []
    word: str | None = None
    quoted = False
    for slashes, character in re.findall(r"(\\*)([^\\]|$)", line, re.DOTALL):
        if character == '"':
            word = (word or "") + "\\" * (len(slashes) // 2)
            if len(slashes) % 2:
                word += '"'
            else:
                quoted = not quoted
            continue
        if slashes:
            word = (word or "") + slashes
        if character in ("", " ", "\t") and not quoted:
            arguments += [word] if word is not None else []
            word = None
        else:
            word = (word or "") + character
    return arguments
