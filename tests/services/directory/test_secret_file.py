"""Credentials go into new files that only their owner reads."""

import os
import stat
from pathlib import Path

import pytest
import yaml

from slipway.directory.failures import ConfigurationInvalid
from slipway.directory.secret_file import new_private_file, secret_manifest


def test_a_file_is_new_and_private(tmp_path: Path) -> None:
    """Whatever the umask is."""
    before = os.umask(0)
    try:
        with new_private_file(tmp_path / "secret") as write:
            assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600
            write(b"value")
    finally:
        os.umask(before)
    assert (tmp_path / "secret").read_bytes() == b"value"


@pytest.mark.parametrize("kind", ["file", "link", "terminal"])
def test_nothing_that_exists_is_written_to(tmp_path: Path, kind: str) -> None:
    """Neither a file, nor what a link leads to, nor a device such as a terminal; the file stays."""
    path = tmp_path / "secret"
    if kind == "link":
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "file":
        path.write_text("before")
    else:
        path = Path("/dev/tty")
    with pytest.raises(ConfigurationInvalid, match="exists"), new_private_file(path):
        pass
    assert not (tmp_path / "elsewhere").exists()
    assert kind != "file" or path.read_text() == "before"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_after_an_error_there_is_no_file(tmp_path: Path, error: type[BaseException]) -> None:
    """Half a secret is not left behind."""

    def fail() -> None:
        with new_private_file(tmp_path / "secret") as write:
            write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert not (tmp_path / "secret").exists()


def test_a_secret_holds_bytes() -> None:
    """Values are those that were given, as Kubernetes reads them."""
    document = yaml.safe_load(
        secret_manifest("worker-1-directory", "clusters", {"blob": b"\xff\xfeA\0", "domain": b"d"})
    )
    assert document == {
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "worker-1-directory", "namespace": "clusters"},
        "data": {"blob": "//5BAA==", "domain": "ZA=="},
    }  # fmt: skip


def test_a_name_that_no_secret_can_have_is_refused() -> None:
    """A Machine's name may be longer than leaves room for more."""
    with pytest.raises(ConfigurationInvalid, match="253"):
        secret_manifest("x" * 254, "clusters", {})
