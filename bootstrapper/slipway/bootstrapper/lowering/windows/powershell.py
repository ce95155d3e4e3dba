"""PowerShell scripts that are safe by construction: static programs, called with quoted words.

No value of a bundle ever becomes a part of a program's text. A program is an ordinary file beside this one; a script is
such programs' functions, then one call a line, every word of it quoted. Source of the quoting: about_Quoting_Rules; the
language also takes typographic quotation marks for single quotes.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from slipway.bootstrapper.lowering.program_text import ProgramText, script_lines

_QUOTES = re.compile("['\u2018\u2019\u201a\u201b]")


def script(calls: Iterable[Sequence[str]], *, programs: Sequence[str] = (), functions: Sequence[str] = ()) -> bytes:
    """Give a script that stops at the first call that fails.

    Args:
        calls: each a function of one of the programs, with its arguments.
        programs: names of the programs, without suffix.
        functions: what the caller calls behind it, by words that it writes itself.
    """
    made = [list(call) for call in calls]
    called = [*functions, *(call[0] for call in made)]
    lines = ["$ErrorActionPreference = 'Stop'", *script_lines([_program(name) for name in programs], called)]
    lines += [" ".join([call[0], *(quoted(word) for word in call[1:])]) for call in made]
    return "".join(f"{line}\n" for line in lines).encode()


def quoted(text: str) -> str:
    """Give a literal string, in which nothing has a meaning but the quotes themselves."""
    return "'" + _QUOTES.sub(lambda match: match.group() * 2, text) + "'"


@cache
def _program(name: str) -> ProgramText:
    text = files(__package__).joinpath("programs", f"{name}.ps1").read_text(encoding="ascii")
    return ProgramText.parsed(text)
