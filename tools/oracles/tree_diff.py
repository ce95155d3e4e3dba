"""Whether two machines are the same, whoever set them up.

Every difference is shown but those that ``allowed_differences.toml``, or the caller's own list, names with a
reason. An entry that matches nothing is reported by ``unused``: a list of exceptions must not outlive its
causes.
"""

from __future__ import annotations

import dataclasses
import enum
import fnmatch
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from tools.oracles.machine_state import MachineState, Node, User

T = TypeVar("T")


class Part(enum.StrEnum):
    """What of a machine differs."""

    FILE = "file"
    RUN = "run"
    REMOVED = "removed"
    USER = "user"
    GROUP = "group"
    SUDO = "sudo"
    ENABLED = "enabled"
    DISABLED = "disabled"
    MASKED = "masked"
    HOSTNAME = "hostname"


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same; ``left`` and ``right`` describe it, empty where it is absent."""

    part: Part
    name: str
    left: str
    right: str

    def __str__(self) -> str:
        return f"{self.part} {self.name}\n  left:  {self.left or '-'}\n  right: {self.right or '-'}"


@dataclasses.dataclass(frozen=True, slots=True)
class Allowed:
    """One difference that is right.

    Attributes:
        part: of the machine.
        name: may hold * and ?.
        reason: why it is right.
        engines: the pair that it is for; empty for any.
        only: the engine whose machine alone has it; empty where both may have it, and not the same.
        member: of groups: the user whose membership is all that differs.
    """

    part: Part
    name: str
    reason: str
    engines: frozenset[str] = frozenset()
    only: str = ""
    member: str = ""


def compare(left: MachineState, right: MachineState, *, allowed: Iterable[Allowed] = ()) -> list[Difference]:
    """All differences that are not allowed, in a stable order."""
    rules = applying(allowed, left, right)
    covers = _Cover(left, right)
    return [entry for entry in everything(left, right) if not any(covers(rule, entry) for rule in rules)]


def unused(left: MachineState, right: MachineState, *, allowed: Iterable[Allowed]) -> list[Allowed]:
    """The allowances for this pair of engines that no difference of these machines needs."""
    differences, covers = everything(left, right), _Cover(left, right)
    return [rule for rule in applying(allowed, left, right) if not any(covers(rule, entry) for entry in differences)]


def applying(allowed: Iterable[Allowed], left: MachineState, right: MachineState) -> list[Allowed]:
    """The allowances that hold for this pair of engines."""
    pair = {left.engine, right.engine}
    return [rule for rule in allowed if not rule.engines or rule.engines == pair]


def standing() -> tuple[Allowed, ...]:
    """The differences that come from the engines themselves and that no document can avoid."""
    table = tomllib.loads(Path(__file__).with_name("allowed_differences.toml").read_text(encoding="utf-8"))
    return tuple(
        Allowed(Part(entry["part"]), entry["name"], entry["reason"], frozenset(entry["engines"]))
        for entry in table["allowed"]
    )


def everything(left: MachineState, right: MachineState) -> list[Difference]:
    """All differences, allowed or not."""
    differences = _mappings(Part.FILE, left.files, right.files, Node.describe)
    differences += _mappings(Part.RUN, left.run, right.run, Node.describe)
    differences += _mappings(Part.USER, left.users, right.users, _describe_user)
    differences += _mappings(
        Part.GROUP, left.groups, right.groups, lambda members: ",".join(sorted(members)) or "(no members)"
    )
    for part, ours, theirs in (
        (Part.REMOVED, left.removed, right.removed),
        (Part.SUDO, left.sudo_rules, right.sudo_rules),
        (Part.ENABLED, left.enabled_units, right.enabled_units),
        (Part.DISABLED, left.disabled_units, right.disabled_units),
        (Part.MASKED, left.masked_units, right.masked_units),
    ):
        for name in sorted(ours ^ theirs):
            differences.append(
                Difference(part, name, "present" if name in ours else "", "present" if name in theirs else "")
            )
    if left.hostname != right.hostname:
        name = "hostname" if left.hostname and right.hostname else "unset"
        differences.append(Difference(Part.HOSTNAME, name, left.hostname, right.hostname))
    return differences


def _mappings(
    part: Part, left: Mapping[str, T], right: Mapping[str, T], describe: Callable[[T], str]
) -> list[Difference]:
    return [
        Difference(part, name, *(describe(held[name]) if name in held else "" for held in (left, right)))
        for name in sorted(left.keys() | right.keys())
        if left.get(name) != right.get(name)
    ]


def _describe_user(user: User) -> str:
    secret = user.password if user.password in {"locked", "empty"} else "set"
    words = [
        f"{field.name}={getattr(user, field.name)}" for field in dataclasses.fields(user) if field.name not in _BY_SET
    ]
    sets = [f"{name}={','.join(sorted(getattr(user, name)))}" for name in ("groups", "ssh_keys")]
    return " ".join((*words, *sets, f"password={secret}"))


_BY_SET = {"groups", "ssh_keys", "password"}


class _Cover:
    """Whether an allowance is for a difference of these machines."""

    def __init__(self, left: MachineState, right: MachineState) -> None:
        self._left = left
        self._right = right

    def __call__(self, rule: Allowed, difference: Difference) -> bool:
        if rule.part is not difference.part or not fnmatch.fnmatchcase(difference.name, rule.name):
            return False
        if rule.only and [state.engine for state in self._holders(difference)] != [rule.only]:
            return False
        return not rule.member or self._members(self._left, difference, rule) == self._members(
            self._right, difference, rule
        )

    @staticmethod
    def _members(state: MachineState, difference: Difference, rule: Allowed) -> tuple[bool, frozenset[str]]:
        """Whether the group is new there, and who else is in it."""
        return difference.name in state.group_ids, state.groups.get(difference.name, frozenset()) - {rule.member}

    def _holders(self, difference: Difference) -> list[MachineState]:
        return [state for state, shown in ((self._left, difference.left), (self._right, difference.right)) if shown]
