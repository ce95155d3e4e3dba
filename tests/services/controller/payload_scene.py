"""What the tests of payloads have in common: a spec that is fetched, and what they look at."""

import re
from typing import Any

from slipway.reports.objects import Objects
from tests.services.controller.scene import Scene

BASE = "https://gateway.example.com:8443"
CANARY = "Zq7CanaryValue"
SPEC: dict[str, Any] = {
    "provisioner": {"name": "cloud-init"},
    "target": {"osFamily": "Linux", "distribution": "debian", "osVersion": "12", "infrastructure": "metal"},
    "os": {"files": [{"path": "/etc/canary", "content": {"text": CANARY}}]},
    "delivery": {"mode": "Fetch"},
}


def stored(store: Objects) -> dict[str, bytes]:
    """Give all payloads by name."""
    return {path.removeprefix("payload/"): store.get(path) or b"" for path, _ in store.paths("payload")}


def ticket_of(stub: bytes) -> str:
    """Give the ticket in the stub of cloud-init."""
    matched = re.search(rb"Bearer ([A-Za-z0-9_-]{43})\"", stub)
    assert matched is not None
    return matched[1].decode()


def annotations(scene: Scene) -> dict[str, str]:
    """Give the annotations of the data Secret."""
    return dict((scene.api.find("Secret", "w") or {})["metadata"]["annotations"])
