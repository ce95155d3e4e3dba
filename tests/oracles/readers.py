"""What the programs of a machine would read from its files: the values behind the syntax of each kind of file."""

import contextlib
import dataclasses
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from typing import Any

import yaml

from tools.oracles.machine_state import Kind, MachineState

_OCTAL = re.compile(r"\\([0-7]{3})")
_UNIT_ESCAPES = {"\\\\": "\\", '\\"': '"', "%%": "%", "$$": "$"}


def without(state: MachineState, folders: tuple[str, ...]) -> MachineState:
    """The machine without what is below these paths."""
    kept = [
        {path: node for path, node in held.items() if not path.startswith(folders)}
        for held in (state.files, state.engine_files, state.run)
    ]
    return dataclasses.replace(state, files=kept[0], engine_files=kept[1], run=kept[2])


def strings_of(state: MachineState) -> Iterator[str]:
    """Every text of every file, account and link, raw and as the file's own reader understands it."""
    for path, node in {**state.engine_files, **state.files, **state.run}.items():
        yield path
        yield node.target
        if node.kind is Kind.FILE:
            yield from _read(path, node.content.decode(errors="surrogateescape"))
    for user in state.users.values():
        yield from (user.gecos, user.home, user.shell, *user.ssh_keys)
    yield from state.sudo_rules
    for call in state.calls:
        yield from call.argv
        yield from _read("kubeadm.yaml", call.stdin.decode(errors="surrogateescape"))


def mounts_of(state: MachineState) -> set[tuple[str, ...]]:
    """What is mounted where and how, whether fstab says it or units do."""
    found = set()
    for line in state.files["/etc/fstab"].content.decode().splitlines() if "/etc/fstab" in state.files else ():
        if line.strip() and not line.startswith("#"):
            source, path, kind, options, *_ = (_octal(word) for word in line.split())
            found.add((source, path, kind, *_options(options)))
    for path, node in state.files.items():
        if path.startswith("/etc/systemd/system/") and path.endswith((".mount", ".swap")):
            says = dict(line.split("=", 1) for line in node.content.decode().splitlines() if "=" in line)
            words = [says.get("What", ""), says.get("Where", "none"), says.get("Type", "swap"), says.get("Options", "")]
            source, where, kind, options = (word.replace("%%", "%") for word in words)
            found.add((source, where, kind, *_options(options)))
    return found


def _options(text: str) -> list[str]:
    """What is said about a mount, but for who says it and for what is so anyway."""
    return sorted(set(text.split(",")) - {"comment=cloudconfig", "defaults", "sw"})


def _octal(text: str) -> str:
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)


def documents_in(text: str) -> Iterator[str]:
    """The scalars of a text that is YAML, JSON or TOML."""
    yield from scalars(_yaml(text))
    yield from scalars(_toml(text))


def _read(path: str, text: str) -> Iterator[str]:
    yield text
    if path.endswith((".yaml", ".yml", ".json")):
        yield from scalars(_yaml(text))
    elif path.endswith(".toml"):
        yield from scalars(_toml(text))
    elif path.endswith((".service", ".conf", ".timer")):
        yield re.sub(r'\\\\|\\"|%%|\$\$', lambda match: _UNIT_ESCAPES[match[0]], text)
    elif path == "/etc/fstab":
        yield _octal(text)
    elif path.startswith(("/var/lib/slipway/", "/etc/environment", "/etc/profile.d/")):
        yield from _words(text)


def _yaml(text: str) -> list[Any]:
    with contextlib.suppress(ValueError):
        return [json.loads(text)]  # YAML makes two characters of a surrogate pair.
    try:
        return list(yaml.safe_load_all(text))
    except yaml.YAMLError:
        return []


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return []


def scalars(tree: Any) -> Iterator[str]:
    """Every text in a tree, keys and values."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield from (*scalars(key), *scalars(value))
    elif isinstance(tree, list):
        for value in tree:
            yield from scalars(value)
