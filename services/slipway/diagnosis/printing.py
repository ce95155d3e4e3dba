"""Text of a log as it may be shown on a terminal."""

import re
import unicodedata

ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\-_a-z0-9=>])")
"""Escape sequences of terminals: CSI, OSC (ended by BEL or ST), and those of two characters."""


def printable(text: str) -> str:
    """Give text that does nothing to a terminal: no control characters, none that turn the direction of writing."""
    if text.isascii() and text.isprintable():
        return text  # most lines; what is asked of each character below is slow
    kept = (" " if character in "\t\n\r" else character for character in ESCAPES.sub("", text))
    return "".join(
        character for character in kept if character.isprintable() and unicodedata.category(character) != "Cf"
    )
