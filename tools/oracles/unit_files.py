"""What a service unit would run, for machines on which no systemd is PID 1.

Only what a one-shot service needs is understood. A unit that uses more is refused with words: guessing what
systemd would do is what a harness of real engines must not do.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from tools.oracles.failures import EngineBroken
from tools.oracles.sandbox import Command, Outcome, Sandbox

_FOLDERS = ("etc/systemd/system", "usr/local/lib/systemd/system")
_PREFIXES = "-@:+!|"


def start(machine: Sandbox, name: str, *, timeout: float = 300.0) -> list[Outcome]:
    """Runs what systemd would run for a service on the machine, up to the first command that fails."""
    outcomes = []
    for argv, may_fail in commands(machine.upper, name):
        (outcome,) = machine.session([Command(argv, timeout=timeout)], reboot=False)
        outcomes.append(outcome)
        if outcome.status and not may_fail:
            break
    return outcomes


def commands(tree: Path, name: str) -> list[tuple[tuple[str, ...], bool]]:
    """The unit's ExecStartPre and ExecStart commands in order, each with whether it may fail.

    Raises:
        EngineBroken: no such unit in the tree, or it uses specifiers or environment, which need the real
            systemd.
    """
    lines = _lines(tree, name)
    result = []
    for key in ("ExecStartPre", "ExecStart"):
        values: list[str] = []
        for line in lines:
            left, separator, right = line.partition("=")
            if separator and left.strip() == key:
                values = [*values, right.strip()] if right.strip() else []
        for value in values:
            bare = value.lstrip(_PREFIXES)
            if "%" in bare.replace("%%", "") or "$" in bare.replace("$$", ""):
                raise EngineBroken(f"{name}: {key} has a specifier or a variable: boot it under systemd")
            argv = tuple(word.replace("%%", "%").replace("$$", "$") for word in shlex.split(bare))
            result.append((argv, "-" in value[: len(value) - len(bare)]))
    return result


def _lines(tree: Path, name: str) -> list[str]:
    for folder in _FOLDERS:
        unit = tree / folder / name
        if unit.is_file():
            parts = [unit, *sorted((tree / folder / f"{name}.d").glob("*.conf"))]
            text = "\n".join(part.read_text(encoding="utf-8") for part in parts).replace("\\\n", " ")
            return [line.strip() for line in text.splitlines() if not line.lstrip().startswith(("#", ";"))]
    raise EngineBroken(f"{name}: no such unit on the machine")
