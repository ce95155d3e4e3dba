"""How Samba's program is run: what it is asked, what it never sees, and what its failures become."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from slipway.directory.failures import ConfigurationInvalid, DirectoryError, PermissionMissing, RequestFailed
from slipway.directory.offline_join import offline_blob
from slipway.directory.settings import Settings

PASSWORD = "canary-4711 "
RECORDING = """
import json, os, sys
arguments = dict(part.split("=", 1) for part in sys.argv[1:] if "=" in part)
password = os.fdopen(int(os.environ["PASSWD_FD"])).read()
folder = os.path.dirname(arguments["savefile"])
state = {"argv": sys.argv, "environment": dict(os.environ), "password": password}
state["mode"] = os.stat(folder).st_mode & 0o777
json.dump(state, open(RECORD, "w"))
open(arguments["savefile"], "wb").write(b"\\xff\\xfeblob")
"""
Net = Callable[[str], str]


@pytest.fixture
def net(tmp_path: Path) -> Net:
    """A function that makes a program in the place of Samba's, of Python statements; gives its path."""

    def make(code: str) -> str:
        program = tmp_path / "net"
        program.write_text(f"#!{sys.executable} -I\nRECORD = {str(tmp_path / 'record')!r}\n{code}")
        program.chmod(0o755)
        return str(program)

    return make


def blob(program: str, user: str = "joiner@corp.example.com") -> bytes:
    """Ask for a blob."""
    settings = Settings(
        server="ldaps://dc1.corp.example.com", user=user, password=PASSWORD, base="OU=Nodes,DC=corp", owner="us"
    )
    return offline_blob(settings, computer="WORKER-1", domain="corp.example.com", program=program)


def test_the_password_goes_through_a_pipe_alone(net: Net, tmp_path: Path) -> None:
    """Neither arguments nor environment have it; Kerberos and encryption are demanded; no state stays."""
    assert blob(net(RECORDING)) == b"\xff\xfeblob"
    record = json.loads((tmp_path / "record").read_text())
    assert record["password"] == f"{PASSWORD}\n"
    assert PASSWORD not in json.dumps([record["argv"], record["environment"]])
    assert {"--use-kerberos=required", "--client-protection=encrypt", "machine_name=WORKER-1"} <= set(record["argv"])
    assert "machine_account_ou=OU=Nodes,DC=corp" in record["argv"]
    assert record["mode"] == 0o700
    saved = next(part.removeprefix("savefile=") for part in record["argv"] if part.startswith("savefile="))
    assert not Path(saved).parent.exists()


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        ("print('x NT_STATUS_ACCESS_DENIED'); raise SystemExit(1)", PermissionMissing, "may not set"),
        ("print('a canary NT_STATUS_NO_LOGON_SERVERS b'); raise SystemExit(255)", RequestFailed, "NT_STATUS_NO_LOGON"),
        ("raise SystemExit(3)", RequestFailed, "ended with 3$"),
        ("pass", RequestFailed, "ended with 0$"),
        (RECORDING.replace("\\xff\\xfeblob", ""), RequestFailed, "empty"),
        (RECORDING.replace('b"\\xff\\xfeblob"', "bytes(1 << 21)"), RequestFailed, "larger than 1 MiB"),
    ],
)
def test_failures_have_a_reason_and_no_text(net: Net, code: str, error: type[DirectoryError], words: str) -> None:
    """Of what the program prints, only the names of statuses are repeated."""
    with pytest.raises(error, match=words) as failure:
        blob(net(code))
    assert "canary" not in str(failure.value)


def test_a_program_that_is_not_there_is_reported(tmp_path: Path) -> None:
    """With the name of its package."""
    with pytest.raises(ConfigurationInvalid, match="samba-common-bin"):
        blob(str(tmp_path / "absent"))


@pytest.mark.parametrize("user", ["joiner", "CN=joiner,DC=corp", "CN=a@b,DC=corp"])
def test_an_account_without_a_kerberos_name_is_refused(net: Net, user: str) -> None:
    """Before the program is started."""
    with pytest.raises(ConfigurationInvalid, match="NAME@DOMAIN"):
        blob(net(RECORDING), user)
