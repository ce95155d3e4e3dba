"""Waits for nodes: kubeadm's join ends before the kubelet has registered its node."""

import json

from tools.node.machine import Machine
from tools.oracles.failures import EngineTimeout

_SECONDS = 240.0


def wait_ready(control_plane: Machine, *names: str) -> None:
    """Wait until there are nodes of these names, and all of them are Ready.

    Raises:
        EngineTimeout: four minutes were not enough; it says what each node lacks.
    """
    lacking = dict.fromkeys(names, "not asked yet")

    def ready() -> bool:
        lacking.update(_lacking(control_plane, names))
        return not any(lacking.values())

    try:
        control_plane.wait_until(ready, f"not all of {names} are Ready", timeout=_SECONDS, asks=True)
    except EngineTimeout as error:
        told = "\n".join(f"--- {name}: {what}" for name, what in lacking.items() if what)
        raise EngineTimeout(f"{error}\n{told}") from None


def _lacking(control_plane: Machine, names: tuple[str, ...]) -> dict[str, str]:
    """What each node lacks to be Ready, in the kubelet's own words; nothing when it is."""
    done = control_plane.run(["kubectl", "get", "nodes", "-o", "json"])
    if done.status:
        return dict.fromkeys(names, f"kubectl ended with {done.status}: {done.errors[-300:]}")
    result = dict.fromkeys(names, "there is no such node")
    for node in json.loads(done.output)["items"]:
        conditions = {one["type"]: one for one in node["status"].get("conditions", ())}
        ready = conditions.get("Ready", {"status": "", "message": "it has not said anything"})
        result[node["metadata"]["name"]] = "" if ready["status"] == "True" else ready["message"]
    return {name: result[name] for name in names}
