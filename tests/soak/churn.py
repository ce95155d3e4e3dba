"""Machines that come, get their user data and go again, at a steady rate, whatever happens to the servers meanwhile."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any, TypeVar

from tests.soak.installation import EMBEDDED, EXTERNAL
from tools.bench.cluster.fleet import Fleet
from tools.cluster.environment import Environment
from tools.cluster.failures import Refused
from tools.cluster.topology import CORE
from tools.cluster.workload import WorkloadCluster

T = TypeVar("T")
Object = dict[str, Any]

RATE = 20.0
"""Machines that are created a second; a machine that is busy makes fewer."""
_MOST_ALIVE = 400
_MOST_MACHINES = 200_000
_PATIENCE = 300.0
_PAUSE = 0.5
_OURS = ("bootstrap.slipway.dev/v1alpha1", "SlipwayConfig")
_PROVISIONERS = cycle((EXTERNAL, EMBEDDED))
_AWAY = (OSError, http.client.HTTPException)
"""What a client sees of a server that is ended or starts."""


def _config(metadata: Object) -> Object:
    return {
        "apiVersion": _OURS[0],
        "kind": _OURS[1],
        "metadata": metadata,
        "spec": {
            "provisioner": {"name": next(_PROVISIONERS)},
            "kubernetes": {"engine": "kubeadm"},
            "os": {"files": [{"path": "/etc/hello", "content": {"text": "hello\n"}, "mode": "0644"}]},
        },
    }


@dataclass(frozen=True)
class Line(Fleet):
    """A fleet whose machines are created one by one in a cluster that is ready."""

    @classmethod
    def ready(cls, cluster: Environment, workload: WorkloadCluster, namespace: str) -> Line:
        """Create the cluster, without a machine, and make it ready."""
        empty = cls(cluster, workload, namespace, clusters=1, machines=0, config=_config)
        empty.create()
        empty.make_ready()
        return replace(empty, machines=_MOST_MACHINES)

    def pairs(self) -> Iterator[tuple[Object, Callable[[Object], Object]]]:
        """Give Machine after Machine, and what makes its config of the Machine that was created."""
        for machine in self._machines():
            yield machine, self._config


@dataclass
class Churn:
    """A thread that creates machines, and one that deletes those which have their data.

    Attributes:
        created: machines that were created.
        finished: those of them that had their data and were deleted.
        slowest: the longest time in seconds from the creation of a config to the sight of its data.
    """

    line: Line
    created: int = 0
    finished: int = 0
    slowest: float = 0.0
    _alive: dict[str, float] = field(default_factory=dict)
    _failures: list[BaseException] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._pairs = self.line.pairs()

    def run(self, seconds: float) -> threading.Thread:
        """Begin; the thread ends when each machine of these seconds is gone, or one was lost."""
        thread = threading.Thread(target=self._kept, args=(seconds,), name="churn")
        thread.start()
        return thread

    def check(self) -> None:
        """Raise what a thread failed by."""
        for failure in self._failures:
            raise failure

    def _kept(self, seconds: float) -> None:
        try:
            self._churn(seconds)
        except BaseException as failure:  # noqa: BLE001 the test raises it
            self._failures.append(failure)

    def _churn(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        deleting = threading.Thread(target=self._delete, args=(lambda: time.monotonic() >= end,), name="deleting")
        deleting.start()
        due = time.monotonic()
        while time.monotonic() < end and deleting.is_alive():
            if len(self._alive) >= _MOST_ALIVE:
                time.sleep(_PAUSE)
                due = time.monotonic()
                continue
            self._create()
            due = max(due + 1 / RATE, time.monotonic() - 1.0)
            time.sleep(max(0.0, due - time.monotonic()))
        deleting.join()

    def _create(self) -> None:
        machine, config = next(self._pairs)
        made = self._again(lambda: self._created(machine))
        document = config(made)
        self._again(lambda: self._created(document))
        self._alive[machine["metadata"]["name"]] = time.monotonic()
        self.created += 1

    def _created(self, document: Object) -> Object:
        """Create an object, or read the one that an answer was lost of."""
        client, metadata = self.line.cluster.client, document["metadata"]
        try:
            return client.create(document)
        except Refused as refused:
            if refused.status != http.HTTPStatus.CONFLICT:
                raise
            return client.get(
                document["apiVersion"], document["kind"], metadata["name"], namespace=metadata["namespace"]
            )

    def _delete(self, last: Callable[[], bool]) -> None:
        client = self.line.cluster.client
        try:
            while not last() or self._alive:
                for config in self._again(lambda: client.list(*_OURS, namespace=self.line.namespace)):
                    if (config.get("status") or {}).get("dataSecretName"):
                        self._finish(config["metadata"]["name"])
                lost = [name for name, since in self._alive.copy().items() if time.monotonic() > since + _PATIENCE]
                assert not lost, f"no user data after {_PATIENCE:.0f} s: {', '.join(sorted(lost)[:5])}"
                time.sleep(_PAUSE)
        except BaseException as failure:  # noqa: BLE001 the test raises it
            self._failures.append(failure)

    def _finish(self, name: str) -> None:
        since = self._alive.get(name)
        if since is None:
            return
        client, metadata = self.line.cluster.client, {"name": name, "namespace": self.line.namespace}
        machine = {"apiVersion": CORE, "kind": "Machine", "metadata": metadata}
        self._again(lambda: self._gone(lambda: client.patch(machine, {"metadata": {"finalizers": None}})))
        self._again(lambda: client.delete(machine))
        self.slowest = max(self.slowest, time.monotonic() - since)
        del self._alive[name]
        self.finished += 1

    @staticmethod
    def _gone(call: Callable[[], Object]) -> None:
        try:
            call()
        except Refused as refused:
            if refused.status != http.HTTPStatus.NOT_FOUND:
                raise

    @staticmethod
    def _again(call: Callable[[], T]) -> T:
        """Ask again while a server is away or does not accept work."""
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                return call()
            except (*_AWAY, Refused) as failure:
                passing = not isinstance(failure, Refused) or failure.status >= http.HTTPStatus.TOO_MANY_REQUESTS
                if not passing or time.monotonic() > end:
                    raise
            time.sleep(_PAUSE)
