"""Text of a file, a provisioner or a machine is shown, and does nothing to the terminal."""

import ast
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from rich.table import Table
from rich.text import Text

from slipway.bootstrapper.problems.error_texts import report
from slipway.cli import output
from slipway.contract.control_characters import escape_controls
from slipway.contract.errors import BundleInvalid, Violation
from tests.services.cli.conftest import EXAMPLES, Slipway, with_worker_os
from tests.services.cli.test_compliance import evidence, waiver
from tests.services.cli.test_help import ALL
from tests.services.cli.test_streams import all_shown

pytestmark = pytest.mark.long

OBEYED = "\x07\x08\x0d\x1b\x7f\x85\x9b\u202a\u202e\u2066\u2069"
TITLE = "\x1b]0;title\x07\x9b2J\u202efdp."
_FOREIGN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_OS = """\
    files:
      - {path: "/etc/a\\u202efdp.\\u009b2J", content: {text: "\\e]0;title\\a\\r\\n"}}
"""
_IMPORTED = """\
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfig
metadata: {name: a}
spec:
  users: [{name: core, gecos: "a\\u202eb"}]
  files: [{path: "/etc/a\\u202efdp", content: "\\e[2J"}]
  preKubeadmCommands: ["echo '\\e[2J'"]
  joinConfiguration: {discovery: {bootstrapToken: {unsafeSkipCAVerification: true}}}
"""
_OF_SPECS = ("validate", "explain", "size", "bundle", "diff", "import", "render")
_OF_RELEASES = ("verify", "list", "add")
# Commands that print nothing of a file, a provisioner or a machine, or only by the functions that are tried below.
_OTHERS = {
    ("completion",): "the script for a shell",
    ("conformance", "run"): "a report, by say, emit and note",
    ("conformance", "schema"): "a schema",
    ("directory", "blob"): "notes, and names that must be those of computers",
    ("directory", "cleanup"): "rows of a table and notes",
    ("directory", "preset"): "notes, and names that must be those of computers",
    ("provisioner", "fake"): "logs",
    ("provisioner", "serve"): "logs",
    ("provisioner", "new"): "the name that was given, which must be a domain name",
    ("provisioners",): "rows of a table and notes",
    ("logs",): "a log bundle, as a file or members of it that are scrubbed",
    ("release",): "rows of a table",
    ("report-url",): "addresses of names that were given, which must be names of Kubernetes",
    ("status",): "rows of a table, of names and reasons that have grammars",
    ("up",): "addresses of its own processes",
}


@pytest.fixture
def hostile(write: Callable[..., Path]) -> Path:
    """A spec that is valid, in a file whose name and texts have escape sequences."""
    return write(with_worker_os(_OS), f"{TITLE}.yaml")


def _safe(text: str) -> bool:
    return _FOREIGN.search(text) is None


@pytest.mark.parametrize("form", ["table", "json", "yaml"])
@pytest.mark.parametrize("command", _OF_SPECS)
def test_texts_of_a_spec_are_shown(
    slipway: Slipway, write: Callable[..., Path], hostile: Path, command: str, form: str
) -> None:
    """Whatever a command says of a file has no character that a terminal obeys; JSON and YAML hold it all the same."""
    arguments: dict[str, tuple[str | Path, ...]] = {
        "diff": (hostile, EXAMPLES / "native.yaml"),
        "import": (write(_IMPORTED, f"{TITLE}-kubeadm.yaml"), "--set-missing"),
        "render": ("-f", hostile, "--provisioner", "all"),
    }
    if command == "bundle" and form == "table":
        return
    flag = "--summary" if command == "render" else "-o"
    result = slipway(command, *arguments.get(command, ("-f", hostile)), flag, form)
    assert result.exit_code in {0, 1}, result.stderr
    assert _safe(result.stdout + result.stderr), (result.stdout, result.stderr)
    if form != "table":
        read = json.loads(result.stdout) if form == "json" else list(yaml.safe_load_all(result.stdout))
        if command in {"diff", "import", "bundle"}:
            assert "\u202efdp" in json.dumps(read, ensure_ascii=False), "the text itself is there, for programs"
            assert "\\u202efdp" in result.stdout.lower()
    elif command in {"diff", "size"}:
        assert "\\u202efdp" in result.stdout + result.stderr


@pytest.mark.parametrize("command", _OF_SPECS)
def test_what_is_wrong_is_shown(slipway: Slipway, write: Callable[..., Path], command: str) -> None:
    """The name of a file and of a field, in a message."""
    file = write('apiVersion: v1\nkind: "\\e[2J"\n"\\e]0;x\\a\\u202e": 1\n${A\u202e', f"{TITLE}.yaml")
    for arguments in ((file, file.with_name(f"{TITLE}-missing")), (file,)) if command in {"import", "diff"} else (
        ("-f", file), ("-f", file.with_name(f"{TITLE}-missing")), ("-f", file, "--machine", TITLE),
    ):  # fmt: skip
        result = slipway(command, *arguments)
        assert result.exit_code in {1, 2}
        assert _safe(result.stdout + result.stderr), result.stderr
        assert "\\u001b]0;title" in result.stderr or "two files are required" in result.stderr


def test_a_name_that_no_machine_has_is_shown(slipway: Slipway) -> None:
    """Click prints what is wrong with a command line by itself."""
    for arguments in (("--machine", TITLE), ("--provisioner", TITLE), ("--target", TITLE), (f"--{TITLE}",)):
        result = slipway("render", "-f", EXAMPLES / "native.yaml", *arguments)
        assert result.exit_code in {1, 2}
        assert _safe(result.stdout + result.stderr), (arguments, result.stderr)
    assert _safe(slipway(TITLE).stderr)
    assert _safe(slipway("artifacts", TITLE).stderr)


@pytest.mark.parametrize("form", ["table", "json", "yaml"])
def test_lines_of_a_log_are_shown(slipway: Slipway, write: Callable[..., Path], form: str) -> None:
    """What a machine wrote, and the name of its log."""
    log = write(f"[preflight] Some fatal errors: {TITLE} [ERROR Swap]: running with swap on is not supported\n", TITLE)
    binary = write(b"\0" * 4000, f"{TITLE}.bin")
    result = slipway("diagnose", log, binary, "-o", form)
    assert result.exit_code == 0
    assert _safe(result.stdout + result.stderr), result.stdout
    assert "bin: is no text" in result.stderr


@pytest.mark.parametrize("command", _OF_RELEASES)
def test_files_of_a_folder_are_shown(slipway: Slipway, tmp_path: Path, command: str) -> None:
    """Names of manifests in a folder that was copied from elsewhere."""
    folder = tmp_path / "releases"
    folder.mkdir()
    (folder / f"{TITLE}.dsse.json").write_text("{}")
    (folder / f"{TITLE}.json").write_text("{}")
    key = tmp_path / f"{TITLE}.pub"
    key.write_text("no key")
    more = (tmp_path / "store",) if command == "add" else ()
    result = slipway("artifacts", command, folder, *more, f"--keys={key}")
    assert result.exit_code in {1, 2}
    assert _safe(result.stdout + result.stderr)


@pytest.mark.parametrize("form", ["table", "json", "yaml"])
def test_evidence_of_a_machine_is_shown(slipway: Slipway, write: Callable[..., Path], form: str) -> None:
    """Who controls a machine writes every text of it, those of its controls and waivers too."""
    text = evidence(
        ("4.1.1", "fail"), waivers=(waiver(TITLE), waiver("4.1.1", reason=TITLE)), hostname=TITLE, bundleId=TITLE
    )
    file = write(text.replace("4.1.2 is seen", json.dumps(TITLE)[1:-1]).replace("4.1.3", json.dumps(TITLE)[1:-1]))
    for arguments in ((), ("--all",), ("--before", file)):
        result = slipway("compliance", "report", "-f", file, *arguments, "-o", form)
        assert _safe(result.stdout + result.stderr), result.stdout
        assert "2J" in result.stdout


def test_every_command_is_tried() -> None:
    """A new command is tried above, or prints only words of its own."""
    tried = {(name,) for name in (*_OF_SPECS, "diagnose")} | {("artifacts", name) for name in _OF_RELEASES}
    tried |= {("compliance", "report")}
    assert ALL.keys() == tried | _OTHERS.keys()
    assert not tried & _OTHERS.keys()


def test_nothing_is_printed_past_the_place_that_escapes() -> None:
    """The commands have one way to print."""
    folder = Path(output.__file__).parent
    for path in sorted(folder.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if path.name != "output.py" else ():
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            assert name not in {"print", "click.echo", "click.secho", "Console", "rich.print"}, f"{path.name}: {name}"
            used = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
            assert used not in {"sys.stdout", "sys.stderr"}, f"{path.name}: {used}"


def test_the_functions_that_print(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Each character of the classes, by each way to print."""
    made = Table("a" + OBEYED)
    made.add_row("b" + OBEYED)
    for number, print_it in enumerate([
        lambda: output.say(OBEYED, OBEYED),
        lambda: output.note(OBEYED, "warning"),
        lambda: output.show(made, Text(OBEYED), OBEYED),
        lambda: output.show(output.table("", ["a"], [[OBEYED]])),
        lambda: output.note(report(BundleInvalid(OBEYED, violations=[Violation(OBEYED, OBEYED, remedy=OBEYED)]))),
        lambda: output.emit({OBEYED: OBEYED}, "json"),
        lambda: output.emit({OBEYED: [OBEYED, "ü\n"]}, "yaml"),
    ]):  # fmt: skip
        print_it()
        shown = b"".join(capsysbinary.readouterr()).decode()
        assert _safe(shown), (number, shown)
        assert "\\u202e" in shown.lower(), number


@pytest.mark.parametrize("text", ["plain", "ü 漢字 👩‍🚒", "a\tb\nc", "שלום עולם", 'quotes " and \\ and \\u001b'])
def test_harmless_text_does_not_change(text: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """All scripts are shown as they are, and documents do not differ from those before."""
    assert escape_controls(text) == text
    output.emit([text], "json")
    assert capsysbinary.readouterr().out.decode() == json.dumps([text], indent=2, ensure_ascii=False) + "\n"


def test_a_terminal_gets_user_data_as_text(hostile: Path) -> None:
    """On a terminal it is for a person; to a file it is what the machine gets, byte for byte."""
    argv = [sys.executable, "-m", "slipway.cli", "render", "-f", str(hostile), "-o", "-", "--machine", "harbour-worker"]
    for provisioner in ("ignition", "windows"):
        command = [*argv, "--provisioner", provisioner]
        written = subprocess.run(command, capture_output=True, check=False)
        if written.returncode == 0:
            assert "\u202efdp" in written.stdout.decode()
            shown = _on_a_terminal(command)
            assert _safe(shown)
            assert "\\u202efdp" in shown
            break
    else:
        pytest.fail("no provisioner renders it")


def test_a_terminal_keeps_its_own_colours(hostile: Path) -> None:
    """What Slipway colours is coloured, and nothing else reaches the terminal."""
    argv = [sys.executable, "-m", "slipway.cli", "diff", str(hostile), str(EXAMPLES / "native.yaml")]
    shown = _on_a_terminal(argv)
    assert "\x1b[" in shown
    assert "\\u202efdp" in shown
    assert _safe(re.sub(r"\x1b\[[0-9;]*m", "", shown))


def _on_a_terminal(argv: list[str]) -> str:
    """Give what a command prints on standard output, when that is a terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"} | {"COLUMNS": "200"}
    environment.pop("NO_COLOR", None)
    with os.fdopen(ours, "rb", buffering=0) as screen:
        with subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, env=environment) as process:
            os.close(theirs)
            shown = all_shown(screen)
        assert process.returncode == 0, shown
    return shown.decode().replace("\r\n", "\n")
