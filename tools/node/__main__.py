"""Looks into the machines that `make demo-node` has left running.

python -m tools.node check                           whether this machine can boot some at all
python -m tools.node list
python -m tools.node enter MACHINE [COMMAND...]      a shell, without a command
python -m tools.node serial|journal MACHINE          what it said so far
python -m tools.node down                            ends them all
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from tools.node import site
from tools.oracles.failures import EngineError

_USED_WRONGLY = 2


def main(arguments: Sequence[str]) -> int:
    """The status for the shell; 1 without machines, 2 for words that mean nothing."""
    if list(arguments) == ["check"]:
        return _check()
    if list(arguments) == ["down"]:
        site.end_standing()
        return 0
    place = site.find_standing()
    if place is None:
        print("no machines are running: make demo-node starts some", file=sys.stderr)
        return 1
    match list(arguments):
        case ["list"]:
            for machine in sorted(place.machines.values(), key=lambda entry: entry.number):
                print(f"{machine.name}\t{machine.address}\t{'on' if machine.on else 'off'}")
        case ["enter", name, *command] if name in place.machines:
            words = [*place.machines[name].words_to_enter(), *(command or ["bash", "-l"])]
            os.execvp(words[0], words)  # noqa: S606 the machine's own shell
        case ["serial" | "journal" as what, name] if name in place.machines:
            machine = place.machines[name]
            print(machine.serial() if what == "serial" else machine.journal())
        case _:
            print(__doc__, file=sys.stderr)
            return _USED_WRONGLY
    return 0


def _check() -> int:
    try:
        site.require()
    except EngineError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
