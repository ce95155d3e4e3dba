"""cloudbase-init's own dispatch, PowerShell's grammar and our schema of answer files, each with broken input."""

import gzip

import pytest

from tools.oracles import finding, windows
from tools.oracles.windows import Execution, SystemCall, WrittenFile

pytestmark = pytest.mark.engine

SCRIPT = b"#ps1_sysnative\r\nWrite-Output 'hello'\r\n"
CLOUD_CONFIG = b"""\
#cloud-config
set_hostname: win7
users:
- {name: ops, gecos: Ops, primary_group: Users, groups: Administrators}
write_files:
- {path: 'C:/k/a.conf', content: aGVsbG8=, encoding: b64, permissions: '0644'}
runcmd:
- [powershell, -File, 'C:/k/run.ps1']
"""


@pytest.mark.parametrize("wrap", [bytes, gzip.compress])
def test_script_is_executed(engine, wrap):
    """A script with the marker at its first byte runs in the native PowerShell, byte for byte, gzipped or not."""
    engine("root-windows")
    made = windows.dispatch(wrap(SCRIPT))
    assert made.steps == (Execution("PowershellSysnative", SCRIPT),)
    assert (made.findings, made.done, made.reboot) == ((), True, False)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"\xef\xbb\xbf" + SCRIPT, "a byte order mark before the marker"),
        (b"# comment\n" + SCRIPT, "a comment before the marker"),
        (b"#ps1_sysnative", "no white space after the marker"),
    ],
)
def test_ignored_document_is_flagged(engine, document, reason):
    """What cloudbase-init silently ignores, reporting success, is an error here."""
    engine("root-windows")
    assert windows.dispatch(document).steps == (), reason
    assert finding.errors(windows.validate(document)), reason


def test_cloud_config(engine):
    """The keys that cloudbase-init knows become steps in its own fixed order, users after files."""
    engine("root-windows")
    made = windows.dispatch(CLOUD_CONFIG)
    assert made.files == [WrittenFile("C:\\k\\a.conf", 0o644, False, b"hello")]
    assert SystemCall("set_host_name", ("win7",)) in made.steps
    (run,) = made.executions
    assert b"powershell -File C:/k/run.ps1" in run.content
    names = [step.name for step in made.steps if isinstance(step, SystemCall)]
    assert "create_user" in names
    assert made.steps.index(made.files[0]) < [type(step) for step in made.steps].index(Execution)


def test_unknown_key_and_broken_yaml_are_flagged(engine):
    """A key of cloud-init's that Windows lacks is reported, broken YAML is an error."""
    engine("root-windows")
    assert windows.validate(CLOUD_CONFIG + b"bootcmd: [ls]\n")
    assert finding.errors(windows.validate(CLOUD_CONFIG + b"x: [\n"))


@pytest.mark.parametrize(
    ("status", "done", "reboot"), [(0, True, False), (1, True, False), (1001, True, True), (1003, False, True)]
)
def test_exit_status_decides_about_reboot(engine, status, done, reboot):
    """The statuses by which a script asks for a reboot mean what the runner relies on; a failure counts as done."""
    engine("root-windows")
    made = windows.dispatch(SCRIPT, exit_status=status)
    assert (made.done, made.reboot) == (done, reboot)


@pytest.mark.parametrize(
    ("script", "good"),
    [
        (b"$ErrorActionPreference = 'Stop'\nif ($x -eq 1) {\n    Write-Output 'a'\n}\n", True),
        (b"[IO.File]::WriteAllBytes('C:\\a', [Convert]::FromBase64String('aGVsbG8='))\n", True),
        (b"if ($x -eq 1) {\n    Write-Output 'a'\n", False),
        (b"Write-Output 'a\n", False),
        (b"$x = (1 + \n", False),
    ],
)
def test_powershell_grammar(engine, script, good):
    """Scripts in our style pass, an open block, string or expression does not."""
    engine("root-windows")
    assert (windows.check_powershell(script) == []) == good


ATTRIBUTES = 'processorArchitecture="amd64" publicKeyToken="31bf3856ad364e35" language="neutral" versionScope="nonSxS"'
ANSWER = f"""\
<?xml version="1.0" encoding="utf-8"?>
<unattend xmlns="urn:schemas-microsoft-com:unattend" xmlns:wcm="http://schemas.microsoft.com/WMIConfig/2002/State">
  <settings pass="specialize">
    <component name="Microsoft-Windows-Shell-Setup" {ATTRIBUTES}>
      <TimeZone>UTC</TimeZone>
      <ComputerName>win1</ComputerName>
    </component>
    <component name="Microsoft-Windows-Deployment" {ATTRIBUTES}>
      <RunSynchronous>
        <RunSynchronousCommand wcm:action="add">
          <Path>powershell.exe -File C:\\k\\run.ps1</Path>
          <Order>1</Order>
        </RunSynchronousCommand>
      </RunSynchronous>
    </component>
  </settings>
  <settings pass="oobeSystem">
    <component name="Microsoft-Windows-Shell-Setup" {ATTRIBUTES}>
      <FirstLogonCommands>
        <SynchronousCommand wcm:action="add">
          <Order>1</Order>
          <CommandLine>powershell.exe -File C:\\k\\run.ps1</CommandLine>
        </SynchronousCommand>
      </FirstLogonCommands>
      <UserAccounts>
        <AdministratorPassword><Value>x</Value><PlainText>true</PlainText></AdministratorPassword>
        <LocalAccounts>
          <LocalAccount wcm:action="add"><Name>ops</Name><Group>Administrators</Group></LocalAccount>
        </LocalAccounts>
      </UserAccounts>
    </component>
  </settings>
</unattend>
"""


def test_answer_file(engine):
    """An answer file of the kind that we emit is valid, whatever the order of its elements."""
    engine("root-checkers")
    assert windows.check_unattend(ANSWER.encode()) == []


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("<Order>1</Order>", "<Order>501</Order>", "the order is limited"),
        ("<ComputerName>win1<", f"<ComputerName>{'w' * 16}<", "a computer name has 15 characters"),
        ('pass="specialize"', 'pass="firstBoot"', "no such pass"),
        ("<TimeZone>UTC</TimeZone>", "<TimeZon>UTC</TimeZon>", "an unknown element"),
        ('wcm:action="add"', "", "list items must say that they are added"),
        ("urn:schemas-microsoft-com:unattend", "urn:other", "a foreign namespace"),
        ('versionScope="nonSxS"', "", "a component without its identity"),
        ("</unattend>", "", "not well-formed"),
        ("<Name>ops</Name>", "<Name>o/s</Name>", "a character that no account name may have"),
        ("C:\\k\\run.ps1</Path>", f"{'x' * 260}</Path>", "a path that is too long"),
    ],
)
def test_broken_answer_file(engine, old, new, reason):
    """Each violation of the reference is flagged."""
    engine("root-checkers")
    assert old in ANSWER
    assert windows.check_unattend(ANSWER.replace(old, new, 1).encode()), reason
