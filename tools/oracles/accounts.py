"""Users, groups and sudo rules of a file tree, read as the machine would read them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import PurePosixPath

from tools.oracles.machine_state import User

Reader = Callable[[str], bytes | None]
Lister = Callable[[str], list[str]]


@dataclasses.dataclass(frozen=True, slots=True)
class Accounts:
    """The account databases of one tree; ``members`` holds each group's listed (supplementary) members."""

    users: dict[str, User]
    members: dict[str, frozenset[str]]
    group_ids: dict[str, int]

    def user_name(self, number: int) -> str:
        """The account's name, or the number as text for an unknown one."""
        return next((name for name, user in self.users.items() if user.uid == number), str(number))

    def group_name(self, number: int) -> str:
        """The group's name, or the number as text for an unknown one."""
        return next((name for name, held in self.group_ids.items() if held == number), str(number))


def read(reader: Reader) -> Accounts:
    """Reads the account databases and SSH keys through ``reader``, which gives a file's bytes or None."""
    groups = [line for line in _table(reader, "/etc/group") if len(line) >= 4]  # noqa: PLR2004 group(5)
    group_ids = {line[0]: int(line[2]) for line in groups}
    members = {line[0]: frozenset(filter(None, line[3].split(","))) for line in groups}
    names = {number: name for name, number in group_ids.items()}
    shadow = {line[0]: line for line in _table(reader, "/etc/shadow")}
    users = {}
    for name, password, uid, gid, gecos, home, shell in _table(reader, "/etc/passwd"):
        secret = shadow.get(name, [name, password, "", "", "", "", "", "", ""])
        users[name] = User(
            uid=int(uid),
            group=names.get(int(gid), gid),
            home=home,
            shell=shell,
            gecos=gecos.rstrip(","),
            password=_password(secret[1]),
            expires=secret[7],
            groups=frozenset(group for group, held in members.items() if name in held),
            ssh_keys=_keys(reader, home),
        )
    return Accounts(users, members, group_ids)


def sudo_rules(reader: Reader, names: list[str]) -> frozenset[str]:
    """The rules of the named files, one a line, without comments and with single blanks."""
    rules: set[str] = set()
    for name in names:
        joined = (reader(name) or b"").decode(errors="replace").replace("\\\n", " ")
        rules.update(" ".join(line.split()) for line in joined.splitlines() if line.strip() and line.lstrip()[0] != "#")
    return frozenset(rules)


def _table(reader: Reader, path: str) -> list[list[str]]:
    text = (reader(path) or b"").decode(errors="replace")
    return [line.split(":") for line in text.splitlines() if line]


def _password(field: str) -> str:
    if field.startswith(("!", "*")):
        return "locked"
    return field or "empty"


def _keys(reader: Reader, home: str) -> frozenset[str]:
    keys: set[str] = set()
    for name in ("authorized_keys", "authorized_keys2", "authorized_keys.d/ignition"):
        content = reader(str(PurePosixPath(home) / ".ssh" / name))
        lines = (content or b"").decode(errors="replace").splitlines()
        keys.update(line.strip() for line in lines if line.strip() and not line.startswith("#"))
    return frozenset(keys)
