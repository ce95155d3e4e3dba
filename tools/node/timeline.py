"""When what happened on a machine's way from power to sentinel, read from the times of its files and its journal.

Nothing is added to the machine to measure it.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from tools.node.machine import SENTINEL, Machine

_STATE = "/var/lib/slipway/state"
_PLAN = "/var/lib/slipway/plan"
_END_OF_PLAN = "-"
NAMES = {
    "prepare": "operating system prepared",
    "pre": "commands before",
    "bootstrap": "kubeadm",
    "post": "commands after",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Moment:
    """Something that was done, in seconds since the machine was switched on."""

    name: str
    seconds: float


def read(machine: Machine) -> list[Moment]:
    """The moments of a machine that runs and has its sentinel; in order."""
    root = Path(f"/proc/{machine.leader()}/root")
    start = machine.powered_at
    first = machine.journal("--output=short-unix", "--no-tail").split(maxsplit=1)
    moments = [Moment("system starts", float(first[0]) - start)] if first else []
    plan = root / _PLAN.lstrip("/")
    if plan.exists():
        run, *lines = plan.read_text(encoding="utf-8").splitlines()
        moments.append(Moment("user data applied", _time(root / f"run/slipway/{run}") - start))
        ends: dict[str, float] = {}
        for line in lines:
            step, *rest = line.split()
            done = root / f"{_STATE.lstrip('/')}/{run}/{step}"
            if step != _END_OF_PLAN and done.exists():
                ends[rest[0]] = max(ends.get(rest[0], 0.0), _time(done) - start)
        moments += [Moment(NAMES[phase], seconds) for phase, seconds in ends.items()]
    moments.append(Moment("sentinel", _time(root / SENTINEL.lstrip("/")) - start))
    return sorted(moments, key=lambda moment: moment.seconds)


def _time(path: Path) -> float:
    return path.stat().st_mtime
