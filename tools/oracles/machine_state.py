"""What a machine looks like after an engine was done with it, in words that belong to no engine.

cloud-init and Ignition reach the same machine by different ways (account databases in another order, keys in
another file); so accounts, sudo rules, keys and units are held by meaning, everything else path by path.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
from collections.abc import Mapping

from tools.oracles.finding import Finding


class Kind(enum.StrEnum):
    """What a path is."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    OTHER = "other"


@dataclasses.dataclass(frozen=True, slots=True)
class Node:
    """One path; ``mode`` has the permission bits only, owner and group are names (or a number as text)."""

    kind: Kind
    mode: int
    owner: str
    group: str
    content: bytes = dataclasses.field(default=b"", repr=False)
    target: str = ""

    @property
    def sha256(self) -> str:
        """Hexadecimal hash of the content; of nothing but files is it interesting."""
        return hashlib.sha256(self.content).hexdigest()

    def describe(self) -> str:
        """One line for a person."""
        tail = {
            Kind.FILE: f"{len(self.content)} bytes sha256:{self.sha256[:16]}",
            Kind.LINK: f"-> {self.target}",
        }
        return f"{self.kind:<9} {self.mode:04o} {self.owner}:{self.group} {tail.get(self.kind, '')}".rstrip()


@dataclasses.dataclass(frozen=True, slots=True)
class User:
    """An account. ``password`` is "locked", "empty" or the hash; ``groups`` are the supplementary ones."""

    uid: int
    group: str
    home: str
    shell: str
    gecos: str
    password: str = dataclasses.field(repr=False)
    expires: str
    groups: frozenset[str]
    ssh_keys: frozenset[str]


@dataclasses.dataclass(frozen=True, slots=True)
class MachineState:
    """What differs from the root file system that the engine started on.

    ``files`` are the paths that a document asked for, as far as that can be told; what an engine writes for
    itself (logs, caches, account databases) is in ``engine_files``. ``run`` is the content of ``/run``.
    ``groups`` are the members of groups that are new or have others, ``group_ids`` the numbers of new ones.
    ``status`` is the engine's own verdict. ``calls`` are the recorded calls of the fake commands put on the
    machine.
    """

    engine: str
    status: str
    findings: tuple[Finding, ...] = ()
    files: Mapping[str, Node] = dataclasses.field(default_factory=dict)
    engine_files: Mapping[str, Node] = dataclasses.field(default_factory=dict)
    run: Mapping[str, Node] = dataclasses.field(default_factory=dict)
    removed: frozenset[str] = frozenset()
    users: Mapping[str, User] = dataclasses.field(default_factory=dict)
    groups: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    group_ids: Mapping[str, int] = dataclasses.field(default_factory=dict)
    sudo_rules: frozenset[str] = frozenset()
    enabled_units: frozenset[str] = frozenset()
    disabled_units: frozenset[str] = frozenset()
    masked_units: frozenset[str] = frozenset()
    hostname: str = ""
    calls: tuple[Call, ...] = ()
    console: bytes = dataclasses.field(default=b"", repr=False)

    def content(self, path: str) -> bytes:
        """The bytes of a file that the engine left.

        Raises:
            KeyError: it left no file there.
        """
        for held in (self.files, self.engine_files, self.run):
            if path in held and held[path].kind is Kind.FILE:
                return held[path].content
        raise KeyError(path)


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """One call of a fake command: its arguments with the program's name first, and how the fake answered."""

    argv: tuple[str, ...]
    stdin: bytes
    status: int


def describe(state: MachineState) -> str:
    """The state as text for a person."""
    lines = [f"engine    {state.engine}", f"status    {state.status}", f"hostname  {state.hostname}"]
    lines += [f"finding   {finding}" for finding in state.findings]
    lines += [f"{path:<50} {node.describe()}" for path, node in sorted({**state.files, **state.run}.items())]
    lines += [f"removed   {path}" for path in sorted(state.removed)]
    for name, user in sorted(state.users.items()):
        secret = user.password if user.password in {"locked", "empty"} else "set"
        lines.append(
            f"user      {name} uid={user.uid} group={user.group} groups={','.join(sorted(user.groups))}"
            f" home={user.home} shell={user.shell} password={secret} keys={len(user.ssh_keys)}"
        )
    lines += [f"group     {name}: {','.join(sorted(members))}" for name, members in sorted(state.groups.items())]
    lines += [f"sudo      {rule}" for rule in sorted(state.sudo_rules)]
    lines += [f"enabled   {unit}" for unit in sorted(state.enabled_units)]
    lines += [f"disabled  {unit}" for unit in sorted(state.disabled_units)]
    lines += [f"masked    {unit}" for unit in sorted(state.masked_units)]
    lines += [f"call      {' '.join(call.argv)} = {call.status}" for call in state.calls]
    return "\n".join(lines) + "\n"
