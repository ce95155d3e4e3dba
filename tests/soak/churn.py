"""Machines that come, get their user data and go again, at a steady rate, whatever happens to the servers meanwhile."""

from __future__ import annotations

import contextlib
import http
import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tests.soak.line import CONFIG, Line
from tools.cluster.failures import Refused
from tools.cluster.topology import CORE

T = TypeVar("T")
Object = dict[str, Any]

RATE = 20.0
"""Machines that are created a second; a computer that is busy makes fewer."""
MOST_ALIVE = 200
"""Machines that wait at a time: while so many do, none is created."""
_PATIENCE = 300.0
"""Seconds in which something must go on: a server answers again, one more machine has its data."""
_PAUSE = 0.5
_AWAY = (OSError, http.client.HTTPException)
"""What a client sees of a server that is ended or starts."""


@dataclass
class Churn:
    """Creates machines, and deletes those which have their data.

    Attributes:
        created: machines that were created.
        finished: those of them that had their data and were deleted, by provisioner.
    """

    line: Line
    created: int = 0
    finished: Counter[str] = field(default_factory=Counter)
    _alive: set[str] = field(default_factory=set)
    _stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._pairs = self.line.pairs()

    @property
    def alive(self) -> int:
        """How many machines wait for their data now."""
        return len(self._alive)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Create machines within the block; at its end wait until each of them had its data and is deleted."""
        self._stopping.clear()
        with ThreadPoolExecutor(2, "churn") as pool:
            parts = [pool.submit(self._guarded, part) for part in (self._create_all, self._finish_all)]
            try:
                yield
            finally:
                self._stopping.set()
            for part in parts:
                part.result()

    def remaining(self) -> Counter[str]:
        """Give what is left of machines in the management cluster, by kind; all of it was finished if none is alive."""
        counts = Counter({kind: len(self._list(version, kind)) for version, kind in ((CORE, "Machine"), CONFIG)})
        secrets = self._list("v1", "Secret")
        owners = [owner for secret in secrets for owner in secret["metadata"].get("ownerReferences", ())]
        counts["Secret"] = sum(owner["kind"] == CONFIG[1] for owner in owners)
        return +counts

    def _list(self, version: str, kind: str) -> list[Object]:
        return self._again(lambda: self.line.cluster.client.list(version, kind, namespace=self.line.namespace))

    def _guarded(self, part: Callable[[], None]) -> None:
        try:
            part()
        finally:
            self._stopping.set()

    def _create_all(self) -> None:
        due = time.monotonic()
        while not self._stopping.is_set():
            if self.alive >= MOST_ALIVE:
                self._stopping.wait(_PAUSE)
                continue
            self._create()
            due = max(due + 1 / RATE, time.monotonic() - 1.0)
            self._stopping.wait(max(0.0, due - time.monotonic()))

    def _create(self) -> None:
        machine, config = next(self._pairs)
        made = self._again(lambda: self._created(machine))
        document = config(made)
        self._alive.add(machine["metadata"]["name"])
        self.created += 1
        self._again(lambda: self._created(document))

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

    def _finish_all(self) -> None:
        seen = time.monotonic()
        while not self._stopping.is_set() or self._alive:
            ready = [config for config in self._list(*CONFIG) if (config.get("status") or {}).get("dataSecretName")]
            for config in ready:
                if config["metadata"]["name"] in self._alive:
                    self._finish(config["metadata"]["name"], config["status"]["dataSecretName"])
                    seen = time.monotonic()
            if not self._alive:
                seen = time.monotonic()
            assert time.monotonic() < seen + _PATIENCE, f"no user data: {', '.join(list(self._alive)[:5])}"
            time.sleep(_PAUSE)

    def _finish(self, name: str, secret: str) -> None:
        """Look at the data, and delete the Machine; the garbage collector deletes the config and the data.

        Core may add its finalizer at any time but after the deletion, so it is removed after that.
        """
        client, metadata = self.line.cluster.client, {"name": name, "namespace": self.line.namespace}
        data = self._again(lambda: client.get("v1", "Secret", secret, namespace=self.line.namespace))
        provisioner = data["metadata"]["annotations"]["bootstrap.slipway.dev/provisioner"]
        assert data["metadata"]["ownerReferences"][0]["name"] == name
        assert data["data"]["value"], name
        machine = {"apiVersion": CORE, "kind": "Machine", "metadata": metadata}
        self._again(lambda: client.delete(machine))
        self._again(lambda: self._without_finalizers(machine))
        self._alive.discard(name)
        self.finished[provisioner] += 1

    def _without_finalizers(self, machine: Object) -> None:
        try:
            self.line.cluster.client.patch(machine, {"metadata": {"finalizers": None}})
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
