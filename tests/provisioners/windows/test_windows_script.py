"""The script: what it holds, in which order, and that no byte changes on the way."""

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.contract.content import literal
from tests.provisioners.windows import samples
from tests.provisioners.windows.test_windows_quoting import value

ARGUMENT = re.compile(r"\(\[.*?\)\)\)|'(?:[^']|'')*'|\$true|\$false")


def calls(script: str, function: str) -> list[list[str | bool]]:
    """Give the values of each call of a function."""
    lines = [line for line in script.splitlines() if line == function or line.startswith(f"{function} ")]
    words = [ARGUMENT.findall(line.removeprefix(function)) for line in lines]
    return [[word == "$true" if word.startswith("$") else value(word) for word in line] for line in words]


@pytest.mark.parametrize("form", samples.FORMATS)
def test_files_arrive_byte_for_byte(form):
    """Every byte value, an empty file, and paths with quotes and other scripts' letters."""
    written = calls(samples.script(samples.everything(), form), "Write-File")
    assert [(path, base64.b64decode(data), owner, protected) for path, data, owner, protected in written] == [
        ("C:\\k\\azure.json", samples.EVERY_BYTE, "", False),
        ("C:\\secret $x '1'\\\u00e9.bin", samples.EVERY_BYTE, "", True),
        ("D:\\owned", b"", "capi", False),
    ]


@given(st.binary(max_size=200), st.integers(0, 0o777))
def test_any_content_and_mode(data, mode):
    """Content comes back, and access is limited exactly when group and others have no bit."""
    bundle = samples.bundle()
    bundle.os.files.add(path="C:\\a", content=literal(data), owner="root", group="root", mode=mode)
    ((_, encoded, _, protected),) = calls(samples.script(bundle), "Write-File")
    assert (base64.b64decode(encoded), protected) == (data, mode & 0o077 == 0)


@pytest.mark.parametrize("form", samples.FORMATS)
def test_the_order_is_that_of_the_contract(form):
    """Groups, users, folders, files, and the entry point last."""
    script = samples.script(samples.everything(), form).splitlines()
    functions = ["Add-Group", "Add-User", "Add-Member", "Add-Folder", "Write-File", "$code = Start-Entry"]
    places = [next(i for i, line in enumerate(script) if line.startswith(f"{name} ")) for name in functions]
    assert places == sorted(places)


def test_the_entry_point_gets_its_arguments():
    """One line in the quoting of the Microsoft C runtime, which the program takes apart again."""
    ((program, arguments),) = calls(samples.script(samples.bundle()), "$code = Start-Entry")
    assert program == "powershell.exe"
    assert arguments == '-File "C:\\Program Files\\run it.ps1" "a \\"b\\""'


@pytest.mark.parametrize("form", samples.FORMATS)
def test_without_an_entry_point_nothing_is_started(form):
    """The items are made, and the script ends well."""
    bundle = samples.everything()
    bundle.plan.ClearField("entrypoint")
    script = samples.script(bundle, form)
    assert calls(script, "Write-File")
    assert "Start-Entry" not in script
    assert script.splitlines()[-1] == "exit 0"
    assert ("schtasks.exe /Delete" in script) == (form == "unattend"), "nothing is left to be started again"


def test_only_needed_functions_are_sent():
    """User data is a few kilobytes; a script without items holds no function for them."""
    script = samples.script(samples.bundle())
    assert "function Start-Entry" in script
    assert not any(f"function {name}" in script for name in ("Write-File", "Add-User", "Add-Authority", "Set-HostName"))


def test_items_are_made_once():
    """A script that runs again must not undo what the user's own commands changed."""
    first, second = samples.everything(), samples.everything()
    second.os.files[0].mode = 0o600
    marks = [set(re.findall(r"setup-[0-9a-f]{16}\.done", samples.script(bundle))) for bundle in (first, second)]
    assert [len(mark) for mark in marks] == [1, 1]
    assert marks[0] != marks[1]


def test_a_new_name_comes_before_everything_else():
    """It counts only after a reboot, and what is made before that would be made twice."""
    lines = samples.script(samples.everything()).splitlines()
    assert lines.index("Set-HostName 'win-1'") < lines.index(
        "$code = " + next(line.removeprefix("$code = ") for line in lines if line.startswith("$code = "))
    )
    assert "exit 1003" in lines[: lines.index("Set-HostName 'win-1'")]


@pytest.mark.parametrize(
    ("text", "expected", "reason"),
    [
        ("ntp {}", "Enable-TimeSync ''", "turned on, the system's own servers"),
        ('ntp { servers: "a" }', "Enable-TimeSync 'a,0x8'", "a server"),
        ("ntp { enabled: false }", "Disable-TimeSync", "turned off"),
        ('time_zone { name: "Etc/UTC" }', "Set-TimeZone -Id 'UTC'", "Windows' own name"),
    ],
)
def test_time(text, expected, reason):
    """Time synchronisation and zone."""
    assert expected in samples.script(samples.bundle(f"os {{ {text} }}")).splitlines(), reason


def test_every_certificate_of_a_bundle_is_trusted():
    """A PEM file may hold several; Windows takes one at a time."""
    assert len(calls(samples.script(samples.everything()), "Add-Authority")) == 2


@pytest.mark.parametrize("form", samples.FORMATS)
def test_the_same_bundle_gives_the_same_bytes(form):
    """Rendering is pure."""
    assert samples.render(samples.everything(), form) == samples.render(samples.everything(), form)
