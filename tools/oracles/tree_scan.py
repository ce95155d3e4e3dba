"""Reads a machine's state out of an overlay: what the upper folder changes in the root below it."""

from __future__ import annotations

import dataclasses
import fnmatch
import os
import stat
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from tools.oracles import accounts, fakes
from tools.oracles.finding import Finding
from tools.oracles.machine_state import Kind, MachineState, Node
from tools.oracles.sandbox import File, Sandbox

_MASK = "/dev/null"
_PLAIN_FOLDER = Node(Kind.DIRECTORY, 0o755, "root", "root")
_UNITS = "/etc/systemd/system"


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """What the engine said itself."""

    engine: str
    status: str
    findings: tuple[Finding, ...]


def read(machine: Sandbox, verdict: Verdict, *, given: Mapping[str, File]) -> MachineState:
    """Gives the machine's state; files in ``given`` count only if the engine changed them."""

    def reader(path: str) -> bytes | None:
        for tree in (machine.upper, machine.lower):
            path_in_tree = tree / path.lstrip("/")
            if path_in_tree.is_file() and not path_in_tree.is_symlink():
                return path_in_tree.read_bytes()
        return None

    def lower_reader(path: str) -> bytes | None:
        path_in_tree = machine.lower / path.lstrip("/")
        return path_in_tree.read_bytes() if path_in_tree.is_file() else None

    now, before = accounts.read(reader), accounts.read(lower_reader)
    changed, removed = _changes(machine.upper, machine.lower, now)
    _forget_given(changed, given)
    noise = _noise()
    engine_files = {path: node for path, node in changed.items() if _matches(path, noise)}
    files = {path: node for path, node in changed.items() if path not in engine_files}
    enabled = {f"{path}" for path in _wants(machine.upper)}
    was_enabled = {f"{path}" for path in _wants(machine.lower)}
    return MachineState(
        engine=verdict.engine,
        status=verdict.status,
        findings=verdict.findings,
        files=files,
        engine_files=engine_files,
        run=_run_files(machine.run_directory, now, noise),
        removed=frozenset(path for path in removed if not _matches(path, noise)),
        users={name: user for name, user in now.users.items() if before.users.get(name) != user},
        groups={name: held for name, held in now.members.items() if before.members.get(name) != held},
        group_ids={name: held for name, held in now.group_ids.items() if before.group_ids.get(name) != held},
        sudo_rules=accounts.sudo_rules(
            reader, [p for p in changed if p == "/etc/sudoers" or p.startswith("/etc/sudoers.d/")]
        ),
        enabled_units=frozenset(_unit_names(enabled - was_enabled)),
        disabled_units=frozenset(_unit_names({path for path in removed if path in was_enabled})),
        masked_units=frozenset(Path(path).name for path, node in files.items() if _is_mask(path, node)),
        hostname=(reader("/etc/hostname") or b"").decode(errors="replace").strip(),
        calls=fakes.read_calls(machine.upper),
        console=machine.console,
    )


def _forget_given(changed: dict[str, Node], given: Mapping[str, File]) -> None:
    """Takes out what the harness put there, with the folders made for it, unless the engine changed it."""
    for path, item in given.items():
        if path in changed and (changed[path].content, changed[path].mode) == (item.content, item.mode):
            del changed[path]
            for folder in map(str, PurePosixPath(path).parents):
                others = any(other.startswith(f"{folder}/") for other in changed)
                if changed.get(folder) == _PLAIN_FOLDER and not others:
                    del changed[folder]


def _changes(upper: Path, lower: Path, names: accounts.Accounts) -> tuple[dict[str, Node], set[str]]:
    changed: dict[str, Node] = {}
    removed: set[str] = set()
    for path, place, status in _walk(upper):
        below = lower / path.lstrip("/")
        if stat.S_ISCHR(status.st_mode) and status.st_rdev == 0:
            removed.add(path)
            continue
        node = _node(place, status, names)
        if os.path.lexists(below) and _same(node, place, below):
            continue
        changed[path] = node
    return changed, removed


def _walk(tree: Path) -> Iterator[tuple[str, Path, os.stat_result]]:
    for folder, folders, files in os.walk(tree):
        for name in (*folders, *files):
            place = Path(folder) / name
            yield f"/{place.relative_to(tree)}", place, place.lstat()


def _node(place: Path, status: os.stat_result, names: accounts.Accounts) -> Node:
    kind = Kind.OTHER
    content, target = b"", ""
    if stat.S_ISREG(status.st_mode):
        kind, content = Kind.FILE, place.read_bytes()
    elif stat.S_ISDIR(status.st_mode):
        kind = Kind.DIRECTORY
    elif stat.S_ISLNK(status.st_mode):
        kind, target = Kind.LINK, _target(place)
    return Node(
        kind=kind,
        mode=stat.S_IMODE(status.st_mode),
        owner=names.user_name(status.st_uid),
        group=names.group_name(status.st_gid),
        content=content,
        target=target,
    )


def _same(node: Node, place: Path, below: Path) -> bool:
    """Whether a path of the upper folder is only a copy of what was there before."""
    now, old = place.lstat(), below.lstat()
    if (now.st_mode, now.st_uid, now.st_gid) != (old.st_mode, old.st_uid, old.st_gid):
        return False
    if node.kind is Kind.FILE:
        return now.st_size == old.st_size and node.content == below.read_bytes()
    return node.kind is not Kind.LINK or node.target == _target(below)


def _target(link: Path) -> str:
    """The text of a link; a Path would make one slash of two."""
    return os.readlink(link)  # noqa: PTH115  # a Path would normalise the target


def _run_files(tree: Path, names: accounts.Accounts, noise: tuple[str, ...]) -> dict[str, Node]:
    nodes = {f"/run{path}": _node(place, status, names) for path, place, status in _walk(tree)}
    return {path: node for path, node in nodes.items() if not _matches(path, noise)}


def _wants(tree: Path) -> Iterator[str]:
    base = tree / _UNITS.lstrip("/")
    for pattern in ("*.wants/*", "*.requires/*"):
        for link in base.glob(pattern):
            if link.is_symlink():
                yield f"{_UNITS}/{link.relative_to(base)}"


def _unit_names(paths: set[str]) -> Iterator[str]:
    """``unit (target.wants)`` says more than the unit alone: with a wrong target it never starts."""
    for path in paths:
        link = Path(path)
        yield f"{link.name} ({link.parent.name})"


def _is_mask(path: str, node: Node) -> bool:
    return path.startswith(f"{_UNITS}/") and node.kind is Kind.LINK and node.target == _MASK


def _noise() -> tuple[str, ...]:
    table = tomllib.loads(Path(__file__).with_name("noise.toml").read_text(encoding="utf-8"))
    return tuple(entry["path"] for entry in table["noise"])


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) or path.startswith(f"{pattern}/") for pattern in patterns)
