"""Reports of Windows by HTTP PUT: the script that makes a task of its own, and what stands in it.

No PowerShell is at hand: its grammar takes the script apart, and what must bound it is looked for in the tree.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest
import tree_sitter
import tree_sitter_powershell

from slipway.bootstrapper.assembly.report_addresses import Addresses
from slipway.bootstrapper.lowering.windows.powershell import script
from slipway.contract.errors import SpecInvalid
from tests.bootstrapper.asking import bootstrapper
from tests.bootstrapper.lowering.runners.test_windows_runner import problems
from tests.bootstrapper.test_reporting_spec import BASE64, PUT, URL, WINDOWS, request
from tests.oracles.powershell import arguments, texts

PROGRAM = script([], programs=["report"], functions=["Start-Report"])
EVENTS_ONLY = "put: {url: {name: report, key: url}}"


def nodes(source: bytes) -> Iterator[tree_sitter.Node]:
    """Give every node of the tree of a script."""
    waiting = [tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language())).parse(source).root_node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children


def written(kind: str) -> list[str]:
    """Give the text of every node of a kind."""
    return [(node.text or b"").decode() for node in nodes(PROGRAM) if node.type == kind]


@cache
def function(name: str) -> str:
    """Give the text of a function."""
    (text,) = [text for text in written("function_statement") if text.startswith(f"function {name} {{")]
    return text


async def user_data(reporting: str) -> list[str]:
    """Give every text that the user data of a Windows worker hold."""
    made = request(reporting, "windows", WINDOWS)
    return list(texts((await bootstrapper().user_data(made)).user_data.decode()))


def call_in(contents: list[str]) -> str:
    """Give the line that starts reporting."""
    lines = {line for text in contents for line in text.splitlines() if line.startswith('Start-Report "$args" ')}
    (line,) = lines
    return line


@pytest.mark.parametrize(
    ("reporting", "call"),
    [
        (f"{{sinks: [{{{PUT}}}]}}", f"failure '{BASE64}' '{BASE64}'"),
        (f"{{sinks: [{{{PUT}}}], logs: Always}}", f"always '{BASE64}' '{BASE64}'"),
        (f"{{sinks: [{{{EVENTS_ONLY}}}]}}", f"failure '{BASE64}'"),
    ],
)
async def test_first_step(reporting: str, call: str) -> None:
    """The step is in front of all others; no text, and so no argument of a program, shows an address."""
    contents = await user_data(reporting)
    assert call_in(contents) == f'Start-Report "$args" {call}'
    assert not [text for text in contents if "signature=s3cret" in text and text != URL]
    plan = max((text for text in contents if text.startswith('{"id"')), key=len)
    first = json.loads(plan)["steps"][0]
    assert first["phase"] == "prepare"
    program = max(
        (text for text in contents if text.lstrip("\ufeff").startswith("$Error") and "Start-Report" in text), key=len
    )
    assert problems(program.lstrip("\ufeff").encode()) == []
    assert first["arguments"].endswith(f"\\steps\\{first['id']}.ps1")


async def test_console_sink_has_no_script() -> None:
    """Without an address nothing is sent, and no byte of the user data is for it."""
    assert not [text for text in await user_data("{sinks: [{console: {}}]}") if "Start-Report" in text]


async def test_operator_addresses() -> None:
    """A spec that says nothing has the operator's, made for its bundle."""
    asking = replace(bootstrapper(), addresses=lambda _: Addresses(URL, URL))
    answer = await asking.user_data(request("", "windows", WINDOWS))
    contents = list(texts(answer.user_data.decode()))
    assert call_in(contents) == f"Start-Report \"$args\" failure '{BASE64}' '{BASE64}'"


async def test_invalid_address_is_refused() -> None:
    """As on Linux, by its field."""
    made = request(f"{{sinks: [{{{PUT}}}]}}", "windows", WINDOWS)
    made.credentials.secrets[0].value = b"https://a.example/' ; evil"
    with pytest.raises(SpecInvalid):
        await bootstrapper().user_data(made)


def test_commands_exist() -> None:
    """A function that is called is there, and no call is misspelt."""
    functions = {text.split()[1] for text in written("function_statement")}
    known = {"Get-Item", "New-Object", "Remove-Item", "Start-Process", "Start-Sleep", "Test-Path", "taskkill.exe"}
    called = {name for name in written("command_name") if name[0].isalpha()}
    assert called >= functions - {"Start-Report"}
    assert called - functions <= known


def value(start: str, **variables: str) -> str:
    """Give the value of the one expandable string of Start-Report that begins so, with these variables."""
    (literal,) = [text for text in written("expandable_string_literal") if text.startswith(f'"{start}')]
    assert literal in function("Start-Report")
    text = literal[1:-1].replace('""', '"')
    for name, content in variables.items():
        text = text.replace(f"${name}", content)
    return text


def test_task_starts_a_path_with_blanks() -> None:
    """The script's own path stays one argument in both command lines: that of schtasks.exe and that of the task."""
    path = "C:\\Program Data\\a b\\steps\\report.ps1"
    started = value("powershell.exe ", PSCommandPath=path)
    *_, name, task = arguments(value("/Create ", started=started))
    assert name == "/TR"
    assert arguments(task) == [
        *("powershell.exe", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"),
        path,
        "send",
    ]


def test_waits_are_bounded() -> None:
    """Requests, their time, their bytes, programs and tries are bounded, and a redirection is not followed."""
    assert [text.splitlines()[0] for text in written("while_statement")] == [
        "while ($requests -lt 300 -and $watch.Elapsed.TotalSeconds -lt 7200) {"
    ]
    assert [text.splitlines()[0] for text in written("foreach_statement")] == ["foreach ($round in 1..5) {"]
    assert [text for text in written("command_name") if text == "Start-Process"] == ["Start-Process"]
    assert "$process.WaitForExit(1000 * $Seconds)" in function("Invoke-Bounded")
    lines = function("Send-File").splitlines()
    for line in (
        "$request.Timeout = 120000",
        "$request.ReadWriteTimeout = 60000",
        "$request.AllowAutoRedirect = $false",
    ):
        assert lines.index("$request = [Net.WebRequest]::Create($Url)") < lines.index(line)
        assert lines.index(line) < lines.index("$body = $request.GetRequestStream()")
    assert "$size = [Math]::Min($Most, $stream.Length)" in lines


def test_errors_do_not_fail_the_step() -> None:
    """All that the runner's step does is tried, and the console stays the runner's."""
    begins = function("Start-Report").splitlines()
    assert begins[2] == "try {"
    assert begins[-4:] == ["} catch {", "$null = $true", "}", "}"]
    assert b"SerialPort" not in PROGRAM


def test_events_file_is_shared_with_the_runner() -> None:
    """Both readers of the file share it with a writer."""
    opened = [line for line in PROGRAM.decode().splitlines() if "[IO.File]::Open" in line]
    assert opened == ["$stream = [IO.File]::Open($Path, 'Open', 'Read', 'ReadWrite')"] * 2
    assert b"ReadAllText" not in PROGRAM


def test_size() -> None:
    """User data hold it in base64."""
    assert len(PROGRAM) <= 3900
