"""`slipway render -o DIR` writes all of a call or nothing, and nothing to where a link leads."""

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.services.cli.conftest import EXAMPLES, Slipway

NATIVE = EXAMPLES / "native.yaml"
CALL = ("render", "-f", NATIVE, "--provisioner", "cloud-init", "-o")


def held(folder: Path) -> set[str]:
    """Give what a folder holds."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_nothing_is_written_through_a_link(slipway: Slipway, tmp_path: Path) -> None:
    """A machine's folder that is a link is refused by name, and no machine before it is written either."""
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (out / "harbour-worker").symlink_to(elsewhere)
    result = slipway(*CALL, out)
    assert result.exit_code == 1
    assert f"{out / 'harbour-worker'}: is a link" in result.stderr
    assert held(out) == {"harbour-worker"}
    assert not held(elsewhere)


def test_a_call_that_fails_leaves_nothing_behind(slipway: Slipway, tmp_path: Path) -> None:
    """No machines before the one that cannot be written, nor those of an earlier call after it, nor any account."""
    out = tmp_path / "out"
    assert slipway(*CALL, out).exit_code == 0
    (out / "mine.txt").touch()
    blocked = out / "harbour-cp-1" / "cloud-init.yaml"
    blocked.unlink()
    (blocked / "inside").mkdir(parents=True)
    result = slipway(*CALL, out)
    assert result.exit_code == 1
    assert str(blocked) in result.stderr
    place = blocked.relative_to(out)
    assert held(out) == {"mine.txt", str(place.parent), str(place), str(place / "inside")}


def test_a_call_that_fails_takes_nothing_of_other_machines(slipway: Slipway, tmp_path: Path) -> None:
    """What an earlier call wrote for machines that this one was not asked for stays as it is."""
    out = tmp_path / "out"
    assert slipway(*CALL, out).exit_code == 0
    others = {path for path in held(out) if "cp-1" not in path} - {"summary.json"}
    blocked = out / "harbour-cp-1" / "cloud-init.yaml"
    blocked.unlink()
    (blocked / "inside").mkdir(parents=True)
    assert slipway(*CALL, out, "--machine", "harbour-cp-1").exit_code == 1
    assert "harbour-worker/cloud-init.yaml" in others
    assert others <= held(out)


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """Let no write reach beyond that many bytes of a file: it fails in its middle, as on a disk that gets full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_that_can_not_be_written_whole_is_named(slipway: Slipway, tmp_path: Path) -> None:
    """With what is wrong; neither its half stays nor anything else of the call."""
    out = tmp_path / "out"
    with no_file_above(1000):
        result = slipway(*CALL, out)
    assert result.exit_code == 1
    assert f"{out / 'harbour-cp-0' / 'cloud-init.yaml'}: File too large" in result.stderr
    assert not held(out)


def test_an_account_that_is_a_link_is_replaced(slipway: Slipway, tmp_path: Path) -> None:
    """What it led to stays as it is."""
    out, other = tmp_path / "out", tmp_path / "other"
    out.mkdir()
    other.write_text("mine")
    (out / "summary.json").symlink_to(other)
    assert slipway(*CALL, out).exit_code == 0
    assert other.read_text() == "mine"
    assert len(json.loads((out / "summary.json").read_text())) == 3
