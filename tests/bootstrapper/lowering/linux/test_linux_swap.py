"""What the step for swap files does where a file is already there: it is a swap file, or stays as it is."""

import shutil
import subprocess
from pathlib import Path

import pytest

from slipway.bootstrapper.lowering.linux.shell import script

pytestmark = pytest.mark.skipif(not (shutil.which("mkswap") and shutil.which("swaplabel")), reason="needs util-linux")


def run(path: Path) -> subprocess.CompletedProcess[bytes]:
    """Run the program for one file of 1 MiB."""
    text = script([["swap", str(path), "1"]], programs=["swap"])
    return subprocess.run(["sh"], input=text, capture_output=True, check=False)


def test_a_swap_file_is_made_once(tmp_path: Path) -> None:
    """The second run takes the file of the first as it is."""
    path = tmp_path / "new" / "swap"
    assert run(path).returncode == 0
    first = path.read_bytes()
    assert (len(first), first[4086:4096], path.stat().st_mode & 0o777) == (1 << 20, b"SWAPSPACE2", 0o600)
    assert run(path).returncode == 0
    assert path.read_bytes() == first


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_anything_else_is_left_alone(tmp_path: Path, kind: str) -> None:
    """It may be anybody's data: the step ends with what is the matter."""
    path = tmp_path / "data.img"
    match kind:
        case "file":
            path.write_bytes(b"data" * 4096)
        case "folder":
            path.mkdir()
        case _:
            path.symlink_to("nowhere")
    done = run(path)
    assert (done.returncode, done.stderr) == (1, b"the swap file is another file, which is left alone\n")
    assert [each.name for each in tmp_path.iterdir()] == ["data.img"]
    assert kind != "file" or path.read_bytes() == b"data" * 4096
