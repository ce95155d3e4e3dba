"""What a controller holds: memory, open files, threads, tasks, and the work that it knows of."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

from prometheus_client.parser import text_string_to_metric_families

from tools.bench.process_figures import rss_mib
from tools.cluster.processes import Process

_WORK = frozenset(f"slipway_controller_{name}" for name in ("queue_length", "in_progress", "delayed", "halted"))
_ANSWER_SECONDS = 120.0
_PAUSE = 0.05


@dataclass(frozen=True, slots=True)
class Usage:
    """Memory in MiB, and the number of files, threads and tasks by what they are."""

    rss_mib: float
    held: Counter[str]

    def more_than(self, earlier: Usage) -> dict[str, int]:
        """Give what is held in a greater number than earlier, and by how many."""
        return dict(self.held - earlier.held)


@dataclass(frozen=True, slots=True)
class ObservedController:
    """A controller that ``observed_controller.py`` runs, with the file for its tasks and the address of its metrics."""

    process: Process
    tasks_file: Path
    metrics_address: str

    def usage(self) -> Usage:
        """Give what it holds now."""
        pid = self.process.pid
        held = Counter(f"task {name}" for name in self._tasks().elements())
        held["thread"] = sum(1 for _ in Path(f"/proc/{pid}/task").iterdir())
        held += Counter(f"file {kind}" for kind in _open_files(pid))
        return Usage(rss_mib(pid), held)

    def work(self) -> dict[str, float]:
        """Give the work that it knows of by its own metrics: each count that is not 0."""
        with build_opener(ProxyHandler({})).open(f"http://{self.metrics_address}/metrics", timeout=60.0) as answer:
            families = list(text_string_to_metric_families(answer.read().decode()))
        samples = [sample for family in families if family.name in _WORK for sample in family.samples]
        assert {sample.name for sample in samples} >= _WORK - {"slipway_controller_halted"}, "a metric was renamed"
        return {f"{sample.name}{sample.labels}": sample.value for sample in samples if sample.value}

    def _tasks(self) -> Counter[str]:
        self.tasks_file.unlink(missing_ok=True)
        self.process.signal(signal.SIGUSR1)
        deadline = time.monotonic() + _ANSWER_SECONDS
        while not self.tasks_file.exists():
            assert time.monotonic() < deadline, f"no answer to a signal: {self.process.tail()}"
            time.sleep(_PAUSE)
        return Counter(json.loads(self.tasks_file.read_text(encoding="utf-8")))


def _open_files(pid: int) -> list[str]:
    """Name the kind of each open file: ``socket``, ``pipe``, or the name of a file."""
    kinds = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = str(link.readlink())
        except FileNotFoundError:
            continue
        kinds.append(Path(target.partition(":[")[0]).name)
    return kinds
