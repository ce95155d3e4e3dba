"""One environment for several processes: started by the first, ended with the last, however that one ends."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.cluster.machines import left_of
from tools.cluster import keeper, place

pytestmark = [pytest.mark.engine, pytest.mark.timeout(400)]

_USER = """
import sys
from pathlib import Path
from tools.cluster import keeper
with keeper.shared(Path(sys.argv[1]), cluster_api=keeper.NONE, workload="") as kept:
    print(kept.pid, flush=True)
    sys.stdin.read()
"""


def test_the_last_user_ends_it(engine: Callable[..., None], tmp_path: Path) -> None:
    """The second user finds what the first has started, and its death, too, ends everything."""
    engine("cluster")
    command = [sys.executable, "-c", _USER, str(tmp_path)]
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(command, stdin=pipe, stdout=pipe) as first,
        subprocess.Popen(command, stdin=pipe, stdout=pipe) as second,
    ):
        assert first.stdout.readline() == second.stdout.readline() != b""
        kept = keeper.read(tmp_path)
        assert kept is not None
        first.communicate(b"")
        assert kept.environment.client.list("v1", "Namespace")
        second.send_signal(signal.SIGKILL)
    place.wait_free(Path(kept.directory), seconds=60)
    assert keeper.read(tmp_path) is None
    assert left_of(Path(kept.directory)) == []
