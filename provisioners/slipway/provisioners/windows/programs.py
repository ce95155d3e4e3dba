"""The static functions of the script, kept as script files, so that people and linters can read them."""

from functools import cache
from importlib.resources import files


@cache
def program(name: str) -> tuple[str, ...]:
    """Give the lines of a program without comments, indentation and empty lines.

    No text in it spans lines, so no line means anything else without its indentation.
    """
    text = files(__package__).joinpath("programs", f"{name}.ps1").read_text(encoding="ascii")
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))
