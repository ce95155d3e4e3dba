"""Whether a machine is the one that it is today, and what is allowed to differ.

The list `same_as_today_differences.toml` names every difference, its cause, and a config that shows it: an entry
that its config no longer needs is an error, as is a difference without an entry.
"""

import dataclasses
import fnmatch
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from tools.oracles import tree_diff
from tools.oracles.machine_state import Call, MachineState
from tools.oracles.tree_diff import Difference, Part

LIST = Path(__file__).with_name("same_as_today_differences.toml")
OUR_FOLDERS = ("/etc/slipway", "/var/lib/slipway", "/run/slipway")
CALL = "call"
_OWN_TOKEN = "Slipway: the cluster's own token"


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One allowed difference.

    Attributes:
        configs: names of the configs that it is for, with * and ?.
        shown_by: a config that has it; empty for templates that are given from outside, which are not always there.
        part: of the machine, as in tree_diff, or "call".
        name: of the path, user, call ..., with * and ?.
        cause: why today's machine is not worth having, or the difference means nothing.
        same: which reading makes both sides equal; without it they may differ in any way.
        ours: what our side must be: a file's text, or words of the description; of a user all that differs.
    """

    configs: str
    shown_by: str
    part: str
    name: str
    cause: str
    same: str = ""
    ours: str = ""

    def covers(self, config: str, one: "Found") -> bool:
        """Whether this entry allows the difference."""
        named = (self.part, True) == (one.part, fnmatch.fnmatchcase(one.name, self.name))
        if not named or not fnmatch.fnmatchcase(config, self.configs):
            return False
        if self.same:
            read = READINGS[self.same]
            return None not in (one.theirs, one.ours) and read(one.theirs or b"") == read(one.ours or b"")
        if one.fields:
            words = self.ours.split()
            named = {word.partition("=")[0] for word in words}
            return named == one.fields and all(f" {word} " in one.shown for word in words)
        return not self.ours or one.ours == self.ours.encode() or self.ours in one.shown


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """One difference, with the contents where it has any, and what of a user differs that both have."""

    part: str
    name: str
    shown: str
    theirs: bytes | None = None
    ours: bytes | None = None
    fields: frozenset[str] = frozenset()


def entries(file: Path = LIST) -> list[Entry]:
    """A checked-in list."""
    return [Entry(**one) for one in tomllib.loads(file.read_text(encoding="utf-8"))["difference"]]


def everything(theirs: MachineState, ours: MachineState) -> list[Found]:
    """All differences but our own folders."""
    found = [_found(one, theirs, ours) for one in tree_diff.everything(theirs, ours) if not _is_our_own(one)]
    return found + _calls(theirs.calls, ours.calls)


def unexplained(config: str, found: list[Found], file: Path = LIST) -> list[Found]:
    """The differences that no entry allows."""
    return [one for one in found if not any(entry.covers(config, one) for entry in entries(file))]


def idle(config: str, found: list[Found], file: Path = LIST) -> list[Entry]:
    """The entries that this config is to show, and does not."""
    shown = [entry for entry in entries(file) if entry.shown_by == config]
    return [one for one in shown if not any(one.covers(config, each) for each in found)]


def _is_our_own(one: Difference) -> bool:
    in_folder = any(one.name == folder or one.name.startswith(f"{folder}/") for folder in OUR_FOLDERS)
    return in_folder and not one.left


def _found(one: Difference, theirs: MachineState, ours: MachineState) -> Found:
    users = [state.users.get(one.name) for state in (theirs, ours)]
    fields = frozenset(_of_user(*users) if one.part is Part.USER and None not in users else ())
    return Found(one.part, one.name, f"{one} ", _content(theirs, one.name), _content(ours, one.name), fields)


def _of_user(left: Any, right: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(left) if getattr(left, field.name) != getattr(right, field.name)]


def _content(state: MachineState, path: str) -> bytes | None:
    try:
        return state.content(path)
    except KeyError:
        return None


def _calls(theirs: tuple[Call, ...], ours: tuple[Call, ...]) -> list[Found]:
    """Calls that only one side made, and what kubeadm read; order counts."""
    left, right = [" ".join(one.argv) for one in theirs], [" ".join(one.argv) for one in ours]
    found = [
        Found(CALL, line, f"{line}: called {left.count(line)} times today, {right.count(line)} by us")
        for line in dict.fromkeys(left + right)
        if left.count(line) != right.count(line)
    ]
    common = [line for line in left if line in right]
    if common != [line for line in right if line in left]:
        found.append(Found(CALL, "order", f"today {left}, ours {right}"))
    read = [(one, other) for one, other in zip(theirs, ours, strict=False) if one.argv == other.argv]
    for one, other in read:
        if _kubeadm(one.stdin) != _kubeadm(other.stdin):
            found.append(Found(CALL, "what kubeadm read", "kubeadm read other documents", one.stdin, other.stdin))
    return found


def _kubeadm(data: bytes) -> Any:
    """The documents of kubeadm, without the token that is ours."""
    documents = list(yaml.safe_load_all(data))
    for document in documents:
        tokens = (document or {}).get("bootstrapTokens")
        kept = [token for token in tokens or () if token.get("description") != _OWN_TOKEN]
        if tokens is not None and not kept:
            del document["bootstrapTokens"]
        elif tokens is not None:
            document["bootstrapTokens"] = kept
    return documents


def _kubeadm_without_expiry(data: bytes) -> Any:
    """The same, without what kubeadm refuses."""
    documents = _kubeadm(data)
    for document in documents:
        for token in (document or {}).get("bootstrapTokens", ()):
            token.pop("expires", None)
    return documents


def _yaml(data: bytes) -> Any:
    """What the file says, whatever is in quotes and in which order."""
    return yaml.safe_load(data)


def _script(data: bytes) -> list[str]:
    """The lines of a script that are not blank, each "set -e" but the first left out."""
    first, *lines = [line.rstrip() for line in data.decode().splitlines() if line.strip()] or [""]
    return [first, *lines[:1], *(line for line in lines[1:] if line != "set -e")]


def _script_that_was_given(data: bytes) -> list[str]:
    """The same without the lines that fill in the machine's names: ours are steps of the runner."""
    return [
        line
        for line in _script(data)
        if not re.match(r"envsubst <|mv \S+/kubeadm\.yml\.tmp |sh /var/lib/slipway/", line)
    ]


def _unit(data: bytes) -> dict[str, list[str]]:
    """What a unit runs, how, and what starts it."""
    said: dict[str, list[str]] = {}
    for line in data.decode().splitlines():
        key, separator, value = line.partition("=")
        if separator and key in {"Type", "ExecStart", "WantedBy", "EnvironmentFile", "User"}:
            said.setdefault(key, []).append(value)
    return said


def _time_servers(data: bytes) -> set[str]:
    return set(re.findall(r"[a-z0-9.-]+\.example\.com", data.decode()))


READINGS: Mapping[str, Callable[[bytes], Any]] = {
    "kubeadm": _kubeadm,
    "kubeadm without expiry": _kubeadm_without_expiry,
    "yaml": _yaml,
    "script": _script,
    "script that was given": _script_that_was_given,
    "unit": _unit,
    "time servers": _time_servers,
}
