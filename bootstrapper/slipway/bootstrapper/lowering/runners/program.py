"""The static programs of the runners, as they are sent.

They are kept as ordinary script files, so that linters and people can read them; comments and indentation,
which no machine needs, are taken off before they use up the user data's few kilobytes.
"""

from functools import cache
from importlib.resources import files


@cache
def program(name: str, *, part: str = "") -> bytes:
    """Give a program without comment lines, indentation and empty lines; lines behind "#PART " are code if asked.

    The programs hold no here-documents and no text that spans lines, so no line's meaning depends on its
    indentation.
    """
    text = files(__package__).joinpath("programs", name).read_text(encoding="ascii")
    lines = (line.strip() for line in text.splitlines())
    if part:
        lines = (line.removeprefix(f"#{part} ") for line in lines)
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("#")).encode("ascii")
