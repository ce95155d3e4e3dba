"""Text of a log, or of anybody else, as it may be shown: on a terminal, and in XML."""

import re
import unicodedata
from xml.etree import ElementTree as ET  # nosec - it only builds

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


def xml_document(root: ET.Element) -> bytes:
    """Return a document in UTF-8, indented, with what can be printed of each text and attribute; `root` is changed."""
    for element in root.iter():
        element.text = "\n".join(map(printable, element.text.splitlines())) if element.text else element.text
        element.attrib.update({name: printable(value) for name, value in element.attrib.items()})
    ET.indent(root)
    encoded: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return encoded + b"\n"
