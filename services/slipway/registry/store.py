"""Where instances are kept: behind an interface, because a cluster keeps them in Lease objects.

Its methods do not wait: a backend with I/O reads from its own copy and writes behind, as an informer does.
"""

from collections.abc import Sequence
from typing import Protocol

from slipway.registry.instance import Instance


class Store(Protocol):
    """Keeps instances by name and instance id."""

    @property
    def epoch(self) -> str:
        """Changes when the store has lost its memory."""

    def all(self) -> Sequence[Instance]:
        """Give all, in any order."""

    def put(self, instance: Instance) -> None:
        """Keep an instance in place of the one with the same name and id."""

    def remove(self, instance: Instance) -> None:
        """Forget it; harmless when it is not there."""


class MemoryStore:
    """Keeps instances in this process; a restart is a new epoch."""

    def __init__(self, *, epoch: str) -> None:
        """Start empty."""
        self._epoch = epoch
        self._instances: dict[tuple[str, str], Instance] = {}

    @property
    def epoch(self) -> str:
        """The epoch that it was made with."""
        return self._epoch

    def all(self) -> Sequence[Instance]:
        """Give all."""
        return list(self._instances.values())

    def put(self, instance: Instance) -> None:
        """Keep an instance."""
        self._instances[instance.name, instance.instance_id] = instance

    def remove(self, instance: Instance) -> None:
        """Forget it."""
        self._instances.pop((instance.name, instance.instance_id), None)
