"""Settings are checked before anything is sent: no connection in clear, no empty password, no file that others read."""

from pathlib import Path
from typing import Any

import pytest

from slipway.directory.failures import ConfigurationInvalid
from slipway.directory.settings import Settings, read_password

GOOD: dict[str, Any] = {
    "server": "ldaps://dc1.corp.example.com", "user": "joiner@corp.example.com", "password": "canary-4711",
    "base": "OU=Nodes,DC=corp,DC=example,DC=com", "owner": "management-1",
}  # fmt: skip


def test_good_settings_are_taken() -> None:
    """Port and unit have defaults, and no text shows the password."""
    settings = Settings(**GOOD)
    assert (settings.host, settings.port, settings.place) == ("dc1.corp.example.com", 636, GOOD["base"])
    assert "canary" not in repr(settings)
    assert Settings(**{**GOOD, "server": "ldaps://dc1.corp.example.com:3269/"}).port == 3269


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("server", "ldap://dc1.corp.example.com", "without TLS"),
        ("server", "LDAP://dc1.corp.example.com:636", "without TLS"),
        ("server", "dc1.corp.example.com", "must be ldaps"),
        ("server", "ldaps://", "must be ldaps"),
        ("server", "ldaps://dc1:99999", "must be ldaps"),
        ("server", "ldaps://me:secret@dc1", "must be ldaps"),
        ("server", "ldaps://dc1/DC=x", "must be ldaps"),
        ("server", "ldapi://dc1", "must be ldaps"),
        ("user", "", "user"),
        ("user", " joiner@corp", "user"),
        ("password", "", "not empty"),
        ("password", "two\nlines", "one line"),
        ("base", "", "base"),
        ("owner", "", "owner"),
        ("owner", "a b", "owner"),
        ("owner", "x" * 64, "owner"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(field: str, value: str, words: str) -> None:
    """The message names the setting, and never the password."""
    with pytest.raises(ConfigurationInvalid, match=words) as refusal:
        Settings(**{**GOOD, field: value})
    assert "canary" not in str(refusal.value)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("content", "password"), [(b"pass word", "pass word"), (b" a \n", " a "), (b"a\r\n", "a"), ("ä\n".encode(), "ä")]
)
def test_a_password_is_read_from_a_private_file(tmp_path: Path, content: bytes, password: str) -> None:
    """Only the line's end is not part of it."""
    (tmp_path / "p").write_bytes(content)
    (tmp_path / "p").chmod(0o600)
    assert read_password(tmp_path / "p") == password


@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [(b"canary", 0o640, "0600"), (b"canary", 0o604, "0600"), (b"\xff", 0o600, "UTF-8"), (b"x" * 2000, 0o600, "long")],
)
def test_other_password_files_are_refused(tmp_path: Path, content: bytes, mode: int, words: str) -> None:
    """A file that others can read is no secret."""
    (tmp_path / "p").write_bytes(content)
    (tmp_path / "p").chmod(mode)
    with pytest.raises(ConfigurationInvalid, match=words):
        read_password(tmp_path / "p")
