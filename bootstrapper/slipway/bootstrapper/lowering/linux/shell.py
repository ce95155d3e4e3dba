"""Shell scripts that are safe by construction: static programs, called with quoted words.

No value of a bundle ever becomes a part of a program's text. A program is an ordinary file beside this one, which
linters and people can read; a script is such programs' functions, then one call a line, every word of it quoted.
"""

import shlex
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from slipway.bootstrapper.lowering.program_text import ProgramText, script_lines


def script(calls: Iterable[Sequence[str]], *, programs: Sequence[str] = (), functions: Sequence[str] = ()) -> bytes:
    """Give a script that stops at the first call that fails.

    Args:
        calls: each a function of one of the programs, or a command of the system, with its arguments.
        programs: names of the programs, without suffix.
        functions: what the caller calls behind it, by words that it writes itself.
    """
    made = [list(call) for call in calls]
    # A function may call another one that it is given by name.
    called = [*functions, *(word for call in made for word in call)]
    lines = [
        "set -eu",
        *script_lines([_program(name) for name in programs], called),
        *(shlex.join(call) for call in made),
    ]
    return "".join(f"{line}\n" for line in lines).encode()


@cache
def _program(name: str) -> ProgramText:
    text = files(__package__).joinpath("programs", f"{name}.sh").read_text(encoding="ascii")
    return ProgramText.parsed(text)
