"""What a service unit would run, for machines on which no systemd is PID 1.

Only what a one-shot service needs is understood. A unit that uses more is refused with words: guessing what
systemd would do is what a harness of real engines must not do.
"""

from __future__ import annotations

import shlex
import signal
from pathlib import Path

from tools.oracles.failures import EngineBroken
from tools.oracles.sandbox import ENVIRONMENT, Command, Outcome, Sandbox

_FOLDERS = ("etc/systemd/system", "usr/local/lib/systemd/system")
_PREFIXES = "-@:+!|"


def start(machine: Sandbox, name: str, *, timeout: float = 300.0) -> list[Outcome]:
    """Runs what systemd would run for a service on the machine, up to the first command that fails.

    What is run behind a start that succeeded, and behind the end of the service, is run, too, and is no part of the
    answer. The service of a unit that stays active has no end but its failure.
    """
    outcomes = []
    failed = 0
    for argv, may_fail in commands(machine.upper, name):
        (outcome,) = machine.session([Command(argv, timeout=timeout)], reboot=False)
        outcomes.append(outcome)
        if outcome.status and not may_fail:
            failed = outcome.status
            break
    if not failed:
        for argv, _ in commands(machine.upper, name, "ExecStartPost"):
            machine.session([Command(argv, timeout=timeout)], reboot=False)
    if failed or "RemainAfterExit=yes" not in _lines(machine.upper, name):
        environment = {**ENVIRONMENT, **_ended(failed)}
        for argv, _ in commands(machine.upper, name, "ExecStopPost"):
            machine.session([Command(argv, timeout=timeout, environment=environment)], reboot=False)
    return outcomes


def _ended(status: int) -> dict[str, str]:
    """The variables by which systemd says how a service ended; a negative status is the number of a signal."""
    if status < 0:
        name = signal.Signals(-status).name.removeprefix("SIG")
        return {"SERVICE_RESULT": "signal", "EXIT_CODE": "killed", "EXIT_STATUS": name}
    return {"SERVICE_RESULT": "exit-code" if status else "success", "EXIT_CODE": "exited", "EXIT_STATUS": str(status)}


def commands(tree: Path, name: str, *keys: str) -> list[tuple[tuple[str, ...], bool]]:
    """The unit's commands of these keys, else ExecStartPre and ExecStart, in order, each with whether it may fail.

    Raises:
        EngineBroken: no such unit in the tree, or it uses specifiers or environment, which need the real
            systemd.
    """
    lines = _lines(tree, name)
    result = []
    for key in keys or ("ExecStartPre", "ExecStart"):
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
