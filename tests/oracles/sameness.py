"""Whether two first-boot systems leave the same machine, in words; nothing to say is what a test wants."""

from collections.abc import Iterable

from tests.oracles.readers import mounts_of
from tools.oracles import tree_diff
from tools.oracles.machine_state import MachineState
from tools.oracles.tree_diff import Allowed

SENTINEL = "/run/cluster-api/bootstrap-success.complete"
# Each system has its own way to enable a unit or to install a package.
_ASKED = {"record", "kubeadm", "sysctl", "modprobe"}


def problems(left: MachineState, right: MachineState, *, allowed: Iterable[Allowed]) -> list[str]:
    """Everything that is wrong with either machine, or not the same and not allowed."""
    found = [each for state in (left, right) for each in own_problems(state)]
    found += [str(difference) for difference in tree_diff.compare(left, right, allowed=allowed)]
    ids = [dict(state.group_ids) for state in (left, right)]
    found += [
        f"group {name}: number {ids[0][name]} and {ids[1][name]}"
        for name in sorted(ids[0].keys() & ids[1].keys())
        if ids[0][name] != ids[1][name]
    ]
    if mounts_of(left) != mounts_of(right):
        found.append(f"mounts: {sorted(mounts_of(left) ^ mounts_of(right))}")
    if _time_zone(left) != _time_zone(right):
        found.append(f"time zone: {_time_zone(left)} and {_time_zone(right)}")
    calls = [sorted(call.argv for call in state.calls if call.argv[0] in _ASKED) for state in (left, right)]
    if calls[0] != calls[1]:
        found.append(f"calls: {calls[0]} and {calls[1]}")
    return found


def _time_zone(state: MachineState) -> str:
    """Where the link leads to, however it says so."""
    held = state.files.get("/etc/localtime")
    return held.target.removeprefix("..") if held else ""


def own_problems(state: MachineState) -> list[str]:
    """What is wrong with a machine whatever another one is like."""
    found = [f"{state.engine}: {finding}" for finding in state.findings]
    if state.status != "done":
        found.append(f"{state.engine}: {state.status}")
    if SENTINEL not in state.run:
        found.append(f"{state.engine}: no sentinel")
    return found
