"""Runs shards with everything that they need, and keeps a record of those that passed in full."""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.oracles.build import BUILDERS
from tools.shards import check, lock, tree
from tools.shards.shard_map import ShardMap


@dataclass
class Result:
    """What became of a run.

    Attributes:
        status: of pytest, or of a build that failed.
        seconds: by shard that passed: what its tests took, one after another.
        retried: the tests that needed a second try.
    """

    status: int
    seconds: dict[str, int] = field(default_factory=dict)
    retried: list[str] = field(default_factory=list)


def build(shard_map: ShardMap, names: Collection[str]) -> int:
    """Build the engines of these shards, all that there are for all shards, and the image beside them.

    What is there already is not built again.
    """
    chosen = [shard_map.shards[name] for name in names]
    engines = list(dict.fromkeys(engine for shard in chosen for engine in shard.engines))
    if len(chosen) == len(shard_map.shards):
        engines = list(BUILDERS)
    commands = [["tools.oracles.build", *engines]] if engines else []
    if any(shard.image for shard in chosen):
        commands.append(["tools.image", "build"])
    with ThreadPoolExecutor() as beside:
        ended = list(beside.map(lambda words: subprocess.run([sys.executable, "-m", *words], check=False), commands))
    return max((done.returncode for done in ended), default=0)


def test(shard_map: ShardMap, files: Sequence[str], options: Sequence[str]) -> Result:
    """Run test files with every engine required, and say which of their shards passed."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "outcomes"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "--durations=20"]
        command += ["--retry-machines", f"--outcomes-to={kept}", *options, *files]
        # Options of the developer's own could leave tests out.
        environment = {**os.environ, "SLIPWAY_REQUIRE_ENGINES": "1", "PYTEST_ADDOPTS": ""}
        status = subprocess.run(command, check=False, env=environment).returncode
        outcomes = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    return evaluate(shard_map, outcomes, status)


def evaluate(shard_map: ShardMap, outcomes: Mapping[str, Mapping[str, Any]], status: int) -> Result:
    """Tell from the outcomes of all tests which shards passed; none when pytest did not come to its end."""
    seconds: dict[str, float] = {}
    failed: set[str] = set()
    for name, outcome in outcomes.items():
        owner = shard_map.owner(name.partition("::")[0]) or ""
        seconds[owner] = seconds.get(owner, 0.0) + outcome["seconds"]
        if outcome["outcome"] == "failed":
            failed.add(owner)
    came_to_its_end = status in {0, 1} and bool(status) == bool(failed)
    passed = {name: round(value) for name, value in seconds.items() if name and name not in failed}
    retried = sorted(name for name, outcome in outcomes.items() if outcome["reruns"])
    return Result(status, passed if came_to_its_end else {}, retried)


def in_full(shard_map: ShardMap, root: Path, names: Collection[str], files: Sequence[str]) -> Result:
    """Build, run and record; what changed under the run is not recorded, since nobody knows what was tested."""
    before = check.digests_by_shard(shard_map, root)
    status = build(shard_map, names)
    if status:
        return Result(status)
    result = test(shard_map, files, ())
    after = check.digests_by_shard(shard_map, root)
    records = lock.read(root / tree.LOCK)
    today = dt.datetime.now(tz=dt.UTC).date()
    for name, seconds in result.seconds.items():
        if name in names and before[name] == after[name]:
            records[name] = lock.Record(before[name], today, seconds)
    known = {name: record for name, record in records.items() if name in shard_map.shards}
    lock.write(root / tree.LOCK, known)
    return result
