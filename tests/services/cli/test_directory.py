"""`slipway directory` refuses what it can before it connects, and leaves no file; the rest needs a real domain."""

import sys
from pathlib import Path

import pytest

from tests.services.cli.conftest import Slipway

PASSWORD = "canary-4711"


@pytest.fixture
def password(tmp_path: Path) -> Path:
    """A file with a password, which only its owner reads."""
    path = tmp_path / "password"
    path.write_text(PASSWORD)
    path.chmod(0o600)
    return path


def options(password: Path, server: str = "ldaps://127.0.0.1:1") -> list[str]:
    """Give the options that say which domain; nothing listens there."""
    return [
        f"--server={server}", "--user=joiner@corp.example.com", f"--password-file={password}", "--owner=us",
        "--base=OU=Nodes,DC=corp",
    ]  # fmt: skip


@pytest.mark.parametrize("command", ["preset", "blob"])
@pytest.mark.parametrize(
    ("server", "reason"), [("ldap://dc1", "InvalidConfiguration"), ("ldaps://127.0.0.1:1", "ServerUnavailable")]
)
def test_without_a_connection_there_is_no_file(
    slipway: Slipway, password: Path, command: str, server: str, reason: str
) -> None:
    """The reason comes first, and the password is in no message."""
    output = password.with_name("output")
    result = slipway("directory", command, "worker-1", "-o", output, *options(password, server))
    assert result.exit_code == 1
    assert result.stderr.startswith(f"refused: {reason}: ")
    assert PASSWORD not in result.output
    assert not output.exists()


def test_a_password_that_others_can_read_is_refused(slipway: Slipway, password: Path, tmp_path: Path) -> None:
    """So is one that is not there."""
    password.chmod(0o644)
    result = slipway("directory", "preset", "worker-1", "-o", tmp_path / "out", *options(password))
    assert (result.exit_code, "0600" in result.stderr) == (1, True)
    password.unlink()
    result = slipway("directory", "preset", "worker-1", "-o", tmp_path / "out", *options(password))
    assert (result.exit_code, str(password) in result.stderr) == (1, True)


def test_credentials_go_to_no_terminal_and_over_no_file(slipway: Slipway, password: Path, tmp_path: Path) -> None:
    """What exists is refused before anything is made in the domain."""
    for path in (password, Path("/dev/stdout"), Path("/dev/tty")):
        result = slipway("directory", "preset", "worker-1", "-o", path, *options(password))
        assert (result.exit_code, "exists" in result.stderr) == (1, True)
    assert password.read_text() == PASSWORD


@pytest.mark.parametrize("chosen", [[], ["--machine=a", "--unused-for=90"], ["--unused-for=0"]])
def test_a_cleanup_needs_machines_or_an_age(slipway: Slipway, password: Path, chosen: list[str]) -> None:
    """Without either, nothing is chosen; with both, it is not clear which."""
    assert slipway("directory", "cleanup", *chosen, *options(password)).exit_code == 2


def test_without_the_extra_it_says_what_to_install(
    slipway: Slipway, password: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command is there without ldap3."""
    for name in [name for name in sys.modules if name == "ldap3" or name.startswith("ldap3.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ldap3", None)
    result = slipway("directory", "preset", "worker-1", "-o", tmp_path / "out", *options(password))
    assert (result.exit_code, "slipway-bootstrap[directory]" in result.stderr) == (1, True)
