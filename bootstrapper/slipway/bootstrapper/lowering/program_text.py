"""Programs as they are sent: those of functions, of which a script takes only what it calls, and those of the runners.

User data has a few kilobytes on some infrastructures, so nothing is sent that nobody runs. The programs are ordinary
files in their own language, which linters and people can read; comments and indentation are taken off.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_FUNCTION = re.compile(r"(?:function )?([A-Za-z][A-Za-z-]*)(?:\(\))? \{")
_WORD = re.compile(r"[A-Za-z][A-Za-z-]*")


@dataclass(frozen=True, slots=True)
class ProgramText:
    """A program: functions, which begin and end at the margin, and the lines that stand outside of them."""

    functions: dict[str, tuple[str, ...]]
    outside: tuple[str, ...]

    @classmethod
    def parsed(cls, text: str) -> "ProgramText":
        """Take a file apart. It has no text that spans lines, and no comment behind code."""
        functions: dict[str, tuple[str, ...]] = {}
        outside: list[str] = []
        name, body = "", list[str]()
        for line in text.splitlines():
            bare = line.strip()
            if not bare or bare.startswith("#"):
                continue
            begins = _FUNCTION.fullmatch(line)
            if begins:
                name, body = begins[1], []
            (body if name else outside).append(bare)
            if line == "}":
                functions[name] = tuple(body)
                name = ""
        return cls(functions, tuple(outside))

    def lines(self, called: Iterable[str]) -> list[str]:
        """Give what has to be sent for these functions to be called, in the order of the file."""
        wanted: set[str] = set()
        remaining = [name for name in called if name in self.functions]
        while remaining:
            name = remaining.pop()
            if name not in wanted:
                wanted.add(name)
                words = {word for line in self.functions[name] for word in _WORD.findall(line)}
                remaining += words & self.functions.keys()
        chosen = [line for name, body in self.functions.items() if name in wanted for line in body]
        return [*self.outside, *chosen] if wanted else []


def script_lines(programs: Sequence[ProgramText], called: Iterable[str]) -> list[str]:
    """Give the lines of all programs that a script needs which calls these functions."""
    names = list(called)
    return [line for text in programs for line in text.lines(names)]


@cache
def program(name: str, *, part: str = "") -> bytes:
    """Give a program without comment lines, indentation and empty lines; lines behind "#PART " are code if asked.

    The programs hold no here-documents and no text that spans lines, so no line's meaning depends on its
    indentation.
    """
    text = files(f"{__package__}.runners").joinpath("programs", name).read_text(encoding="ascii")
    lines = (line.strip() for line in text.splitlines())
    if part:
        lines = (line.removeprefix(f"#{part} ") for line in lines)
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("#")).encode("ascii")
