"""Text of a log as it may be shown on a terminal."""

import re
import unicodedata

ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\-_a-z0-9=>])")
"""Escape sequences of terminals: CSI, OSC (ended by BEL or ST), and those of two characters."""


def printable(text: str) -> str:
    """Give text that does nothing to a terminal: no control characters, none that turn the direction of writing."""
    if text.isascii() and text.isprintable():
        return text  # most lines; what is asked of each character below is slow
    kept = (" " if one in "\t\n\r" else one for one in ESCAPES.sub("", text))
    return "".join(one for one in kept if one.isprintable() and unicodedata.category(one) != "Cf")
