"""What an API server was asked, and by whom: its own audit log, which no client can forget to write.

Calls and writes per machine are counted from it, and that a refusal of a verb really happened is seen in it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.oracles.failures import EngineTimeout

_INTERVAL = 0.2
WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True, slots=True)
class Call:
    """One request that was answered; ``verb`` is Kubernetes' (get, list, watch, create, update, patch, delete)."""

    verb: str
    resource: str
    subresource: str
    namespace: str
    name: str
    user: str
    agent: str
    status: int
    at: str

    @property
    def is_write(self) -> bool:
        """Whether it was to change something, refused or not."""
        return self.verb in WRITES


class Log:
    """The audit log of one API server."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def position(self) -> int:
        """Where the log ends now: give it to ``calls`` for what comes later."""
        return self.path.stat().st_size if self.path.exists() else 0

    def calls(self, *, since: int = 0, user: str = "", agent: str = "", resource: str = "") -> list[Call]:
        """The calls of a user, of an agent (a part of its name) and for a resource, where these are told."""
        return [
            call
            for call in self.read_from(since)[0]
            if user in {"", call.user} and agent in call.agent and resource in {"", call.resource}
        ]

    def read_from(self, since: int) -> tuple[list[Call], int]:
        """All calls since then, and where the next ones begin: for who asks often, and reads no line twice."""
        calls = []
        with self.path.open("rb") as log:
            log.seek(since)
            for line in log:
                if not line.endswith(b"\n"):
                    break  # It is being written.
                since += len(line)
                calls.append(_call(json.loads(line)))
        return calls, since

    def until(self, true: Callable[[Call], object], *, since: int = 0, seconds: float = 60.0) -> Call:
        """Wait for a call of which something is true; give it.

        Raises:
            EngineTimeout: there was none.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            calls, since = self.read_from(since)
            for call in calls:
                if true(call):
                    return call
            time.sleep(_INTERVAL)
        raise EngineTimeout(f"no such call in {seconds:.0f} s")


def _call(event: dict[str, Any]) -> Call:
    target = event.get("objectRef", {})
    return Call(
        verb=event["verb"],
        resource=target.get("resource", ""),
        subresource=target.get("subresource", ""),
        namespace=target.get("namespace", ""),
        name=target.get("name", ""),
        user=event["user"].get("username", ""),
        agent=event.get("userAgent", ""),
        status=event.get("responseStatus", {}).get("code", 0),
        at=event["requestReceivedTimestamp"],
    )


def write_policy(path: Path) -> Path:
    """Write the policy: who asked what and got which status, never a body."""
    policy = {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [{"level": "None", "nonResourceURLs": ["*"]}, {"level": "Metadata"}],
    }
    path.write_text(json.dumps(policy))
    return path
