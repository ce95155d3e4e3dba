"""An environment that outlives the process that asked for it, for a developer's shell or all workers of a test run.

A process of its own, the keeper, holds it. It says where it is by a file, and ends when it is told to or, if it is
kept for users, when the last of them is gone, in whatever way: users hold a lock, which the kernel frees with them.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType

from tools.cluster import place
from tools.cluster import slipway as beside_it
from tools.cluster.administration import Administration
from tools.cluster.environment import Environment
from tools.cluster.failures import ProcessEnded
from tools.cluster.management import ManagementCluster, RunningCluster
from tools.oracles.failures import EngineTimeout

NONE = "none"
_STATE = "cluster.json"
_LOG = "keeper.log"
_USE = "use"
_START = "start"
_PATIENCE = 300.0
_INTERVAL = 0.1


@dataclass(frozen=True, slots=True)
class Kept:
    """What the keeper says of itself; ``workload`` is the name of the workload cluster, or empty.

    ``cluster_api`` is a release, or ``NONE`` for an API server without any.
    """

    pid: int
    cluster_api: str
    directory: str
    address: str
    workload: str = ""
    workload_address: str = ""
    real_machines: bool = False
    slipway: bool = False

    @property
    def environment(self) -> Environment:
        """The management cluster."""
        return Environment(Path(self.directory), self.address)

    @property
    def workload_administration(self) -> Administration:
        """The API server of the workload cluster."""
        return Administration(Path(self.directory) / f"workload-{self.workload}", self.workload_address)


def read(folder: Path) -> Kept | None:
    """What is kept for this folder, or None."""
    try:
        kept = Kept(**json.loads((folder / _STATE).read_bytes()))
    except FileNotFoundError:
        return None
    return kept if place.held(Path(kept.directory)) else None


def start(  # noqa: PLR0913 keyword-only, as of keep
    folder: Path,
    *,
    cluster_api: str,
    workload: str,
    while_used: bool = False,
    real_machines: bool = False,
    slipway: bool = False,
) -> Kept:
    """Start a keeper in the background and wait until its environment can be used.

    Raises:
        ProcessEnded: it did not come up; the message ends with its log.
        EngineTimeout: it was not up in 5 minutes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _STATE).unlink(missing_ok=True)
    log = folder / _LOG
    command = [sys.executable, "-m", "tools.cluster", "keep", str(folder), "--cluster-api", cluster_api]
    flags = {"--while-used": while_used, "--real-machines": real_machines, "--slipway": slipway}
    command += ["--workload", workload, *(flag for flag, wanted in flags.items() if wanted)]
    with log.open("wb") as output:
        keeper = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        )
    # Waited for by a thread, since it may end long after this function, and shall not stay as a zombie then.
    threading.Thread(target=keeper.wait, name="keeper", daemon=True).start()
    end = time.monotonic() + _PATIENCE
    while (kept := read(folder)) is None:
        if keeper.poll() is not None:
            raise ProcessEnded(f"no environment came up:\n{log.read_text(errors='replace')[-3000:]}")
        if time.monotonic() > end:
            keeper.terminate()
            raise EngineTimeout(
                f"no environment came up in {_PATIENCE:.0f} s:\n{log.read_text(errors='replace')[-3000:]}"
            )
        time.sleep(_INTERVAL)
    return kept


def stop(folder: Path) -> bool:
    """End what is kept for this folder and wait until it is gone; False when there was nothing."""
    kept = read(folder)
    if kept is None:
        return False
    os.kill(kept.pid, signal.SIGTERM)
    place.wait_free(Path(kept.directory), seconds=_PATIENCE)
    return True


@contextlib.contextmanager
def shared(folder: Path, *, cluster_api: str, workload: str) -> Iterator[Kept]:
    """Use the environment of this folder, which the first user starts and the last one ends; errors as of ``start``."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _USE).open("w") as use, (folder / _START).open("w") as starting:
        fcntl.flock(use, fcntl.LOCK_SH)
        fcntl.flock(starting, fcntl.LOCK_EX)
        kept = read(folder) or start(folder, cluster_api=cluster_api, workload=workload, while_used=True)
        fcntl.flock(starting, fcntl.LOCK_UN)
        yield kept


def keep(  # noqa: PLR0913 keyword-only
    folder: Path,
    *,
    cluster_api: str,
    workload: str,
    while_used: bool,
    real_machines: bool = False,
    slipway: bool = False,
) -> None:
    """Be the keeper: hold an environment until SIGTERM or SIGINT, or until nobody uses it any more.

    Args:
        folder: where it is told of.
        cluster_api: a release, or ``NONE``.
        workload: name of a workload cluster without machines, or empty.
        while_used: end when no process holds it in use.
        real_machines: as of ``ManagementCluster``.
        slipway: Slipway runs in it.
    """
    ended = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    release = None if cluster_api == NONE else cluster_api
    with ManagementCluster(release, real_machines=real_machines) as cluster, contextlib.ExitStack() as until:
        if slipway:
            beside_it.start(cluster.supervisor, cluster, env=cluster.way_in if real_machines else None)
        kept = replace(_with_workload(cluster, cluster_api, workload), real_machines=real_machines, slipway=slipway)
        state = asdict(kept)
        beside = folder / f".{_STATE}"
        beside.write_text(json.dumps(state))
        if while_used:
            until.enter_context(_ending_when_unused(folder, ended))
        beside.rename(folder / _STATE)
        ended.wait()
        (folder / _STATE).unlink(missing_ok=True)


def _with_workload(cluster: RunningCluster, cluster_api: str, name: str) -> Kept:
    directory = str(cluster.directory)
    if not name:
        return Kept(os.getpid(), cluster_api, directory, cluster.address)
    workload = cluster.workload_cluster(name)
    cluster.apply([workload.authority_secret()])
    return Kept(os.getpid(), cluster_api, directory, cluster.address, name, workload.administration.address)


@contextlib.contextmanager
def _ending_when_unused(folder: Path, ended: threading.Event) -> Iterator[None]:
    """Set the event as soon as nobody holds the folder in use; then nobody can take it up within the block."""
    with (folder / _USE).open("w") as use:

        def wait() -> None:
            fcntl.flock(use, fcntl.LOCK_EX)
            ended.set()

        threading.Thread(target=wait, name="users", daemon=True).start()
        yield
