r"""Characters that a terminal obeys instead of showing them.

What a file, a provisioner or a machine says is printed beside what Slipway says. With an escape sequence it could
delete lines above, set the title, or answer for the keyboard; with a bidirectional override, one name could look like
another. So such characters are shown as `\u001b`, which JSON and quoted YAML read as the character itself.
"""

import re

# C0 without tab and line feed, DEL, C1; embeddings, overrides and isolates of the direction (Unicode, UAX 9).
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def escape_controls(text: str) -> str:
    r"""Return the text with each character that a terminal obeys as `\uXXXX`; tabs and line feeds stay."""
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def has_controls(text: str) -> bool:
    """Whether a terminal would obey a part of the text."""
    return _OBEYED.search(text) is not None
