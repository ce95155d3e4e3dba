"""Where Jinja, as cloud-init calls it, cuts line breaks: behind blocks and comments (its option trim_blocks).

A scanner that reads the text once: the texts are a user's, and a regular expression over all of them takes a time that
grows with the square of their length.
"""

import re
from collections.abc import Iterator

_NOTHING = "{{ '' }}"
_OPENING = re.compile(r"\{[{%#]")
_RAW = re.compile(r"\{%[-+]?\s*raw\b")
_END_OF_RAW = re.compile(r"\bendraw\s*[-+]?%\}")
# A string, or anything that neither opens one nor ends the tag. Possessive: nothing is tried a second time.
_EXPRESSION = re.compile(r"\{\{(?:\"[^\"]*\"|'[^']*'|[^\"'}]|\}(?!\}))*+\}\}")
_BLOCK = re.compile(r"\{%(?:\"[^\"]*\"|'[^']*'|[^\"'%]|%(?!\}))*+%\}")
_KEEPS = frozenset("-+")
"""A sign before the end of a block says by itself what is cut behind it."""


def contained(template: str) -> str:
    """Keep Jinja from cutting line breaks that are the document's, or blanks outside of the template."""
    pieces, start = [], 0
    for end in _cutting(template):
        pieces += [template[start:end], _NOTHING]
        start = end
    text = "".join([*pieces, template[start:]])
    before = _NOTHING if text[2:3] == "-" else ""
    return before + text + (_NOTHING if text[-3:-2] == "-" else "")


def _cutting(text: str) -> Iterator[int]:
    """Yield the ends of blocks and comments behind which Jinja cuts a line break. An unclosed one ends the search."""
    position = 0
    while opening := _OPENING.search(text, position):
        end = _end(text, opening.start())
        if end < 0:
            return
        is_expression = text.startswith("{{", opening.start())
        if not is_expression and text[end - 3] not in _KEEPS and (end == len(text) or text[end] == "\n"):
            yield end
        position = end


def _end(text: str, start: int) -> int:
    """Return where the expression, block or comment that starts there ends; -1 where it does not."""
    if text.startswith("{#", start):
        end = text.find("#}", start + 2)
        return end if end < 0 else end + 2
    if _RAW.match(text, start):
        match = _END_OF_RAW.search(text, start)
    else:
        match = (_EXPRESSION if text.startswith("{{", start) else _BLOCK).match(text, start)
    return match.end() if match else -1
