"""A folder of user data is read by the programs of the machines: what they refuse, and what nobody reads, is said."""

import gzip
import json
from pathlib import Path

import pytest

from tools.oracles import outputs

_GOOD = b"#cloud-config\nruncmd: [[ls]]\n"
_BAD = b"#cloud-config\nruncmd: 7\n"


def _folder(path: Path, rendered: dict[str, tuple[str, bytes]]) -> Path:
    refused = {"status": "refused", "file": "", "format": "cloud-config"}
    entries = [{"status": "rendered", "file": name, "format": form} for name, (form, _) in rendered.items()]
    (path / "summary.json").write_text(json.dumps([refused, *entries]))
    for name, (_, data) in rendered.items():
        (path / name).write_bytes(data)
    return path


@pytest.mark.engine
def test_each_file_is_put_to_its_program(tmp_path: Path, engine, capsys: pytest.CaptureFixture[str]) -> None:
    """A good document is taken, packed or not, and a bad one is refused, with the program's words."""
    engine("root-trixie")
    made = {"a": ("cloud-config", _GOOD), "b": ("cloud-config", gzip.compress(_GOOD)), "c": ("cloud-config", _BAD)}
    assert outputs.main([str(_folder(tmp_path, made))]) == 1
    first, second, third = capsys.readouterr().out.splitlines()
    assert (first, second) == ("a: cloud-init: taken", "b: cloud-init: taken")
    assert third.startswith("c: cloud-init: cloud-init error: ")
    assert "runcmd" in third


def test_what_nobody_reads_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A format of a third party, no user data at all, and no folder: each is said, and none ends with 0."""
    assert outputs.main([str(_folder(tmp_path, {"a": ("acme/v1", b"x")}))]) == 2
    assert "a: no reader: no program for acme/v1 is known here" in capsys.readouterr().out
    assert outputs.main([str(_folder(tmp_path, {}))]) == 2
    assert outputs.main([str(tmp_path / "absent")]) == 2


@pytest.mark.parametrize(
    ("format_id", "name"),
    [
        ("cloud-config", "cloud-init"),
        ("ignition/3.4.0", "Ignition"),
        ("talos/v1.9", "Talos 1.11"),
        ("talos/v1.13", "Talos 1.13"),
        ("cloudbase-init", "cloudbase-init"),
        ("cloud-config-2", None),
    ],
)
def test_a_format_has_one_reader(format_id: str, name: str | None) -> None:
    """A Talos configuration is for the version in its name, which an older module reads more strictly."""
    assert [reader.name for reader in outputs.READERS if reader.reads(format_id)] == ([name] if name else [])
