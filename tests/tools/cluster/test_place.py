"""Places: no two owners share one, and nothing of a killed owner stays."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools.cluster import place

_OWNER = """
import sys
from tools.cluster import place
with place.reserve() as mine:
    print(mine.directory, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPWAY_CACHE", str(tmp_path))


def test_owners_share_nothing() -> None:
    """Two places at a time differ in directory and address; both directories go with the block."""
    with place.reserve() as one, place.reserve() as other:
        assert one.directory != other.directory
        assert one.address != other.address
        assert one.address.startswith("127.")
        assert place.held(one.directory)
    assert not one.directory.exists()
    assert not place.held(one.directory)


def test_a_killed_owner_is_swept() -> None:
    """Its directory stays only until somebody takes a place again; one that is in use stays."""
    with subprocess.Popen(
        [sys.executable, "-c", _OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        directory = Path(owner.stdout.readline().strip())
        with place.reserve():
            assert directory.exists()
        owner.send_signal(signal.SIGKILL)
        owner.communicate()
    assert directory.exists()
    with place.reserve():
        assert not directory.exists()
