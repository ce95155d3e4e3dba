"""Waits for nodes: kubeadm's join ends before the kubelet has registered its node."""

import json

from tools.node.machine import Machine

_SECONDS = 120.0


def wait_ready(control_plane: Machine, *names: str) -> None:
    """Wait until there are nodes of these names, and all of them are Ready.

    Raises:
        EngineTimeout: two minutes were not enough.
    """

    def ready() -> bool:
        done = control_plane.run(["kubectl", "get", "nodes", "-o", "json"])
        if done.status:
            return False
        conditions = {
            node["metadata"]["name"]: {one["type"]: one["status"] for one in node["status"].get("conditions", ())}
            for node in json.loads(done.output)["items"]
        }
        return all(conditions.get(name, {}).get("Ready") == "True" for name in names)

    control_plane.wait_until(ready, f"not all of {names} are Ready", timeout=_SECONDS)
