"""Waits for nodes: kubeadm's join ends before the kubelet has registered its node."""

import datetime as dt
import json

from tools.node.machine import Machine
from tools.oracles.failures import EngineTimeout

_SECONDS = 240.0


def wait_ready(control_plane: Machine, *names: str, since: float = 0.0) -> None:
    """Wait until there are nodes of these names, and all of them are Ready.

    What a node said before the time `since`, in seconds, does not count: it is what was true before a reboot.

    Raises:
        EngineTimeout: four minutes were not enough; it says what each node lacks.
    """
    lacking = dict.fromkeys(names, "not asked yet")

    def ready() -> bool:
        lacking.update(_lacking(control_plane, names, since))
        return not any(lacking.values())

    try:
        control_plane.wait_until(ready, f"not all of {names} are Ready", timeout=_SECONDS, asks=True)
    except EngineTimeout as error:
        lacks = "\n".join(f"--- {name}: {what}" for name, what in lacking.items() if what)
        raise EngineTimeout(f"{error}\n{lacks}") from None


def _lacking(control_plane: Machine, names: tuple[str, ...], since: float) -> dict[str, str]:
    """What each node lacks to be Ready, in the kubelet's own words; nothing when it is."""
    done = control_plane.run(["kubectl", "get", "nodes", "-o", "json"])
    if done.status:
        return dict.fromkeys(names, f"kubectl ended with {done.status}: {done.errors[-300:]}")
    result = dict.fromkeys(names, "there is no such node")
    for node in json.loads(done.output)["items"]:
        conditions = {condition["type"]: condition for condition in node["status"].get("conditions", ())}
        ready = conditions.get("Ready", {"status": "", "message": "it has not said anything"})
        heartbeat = dt.datetime.fromisoformat(ready.get("lastHeartbeatTime", "1970-01-01T00:00:00Z")).timestamp()
        lack = "" if ready["status"] == "True" else ready["message"]
        result[node["metadata"]["name"]] = "it has not said anything since" if heartbeat < int(since) else lack
    return {name: result[name] for name in names}
