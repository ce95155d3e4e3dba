"""Markdown, as far as reference pages need it: prose, tables, anchors, and the note that a page is generated."""

import re
from collections.abc import Iterable, Sequence


def page(title: str, source: str, *blocks: str) -> str:
    """Give a page; `source` says what it is made from."""
    note = f"<!-- Generated from {source} by `make docs`; do not edit. -->"
    return "\n\n".join([f"# {title}", note, *(block for block in blocks if block)]) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Give a table. Cells are Markdown; a line break or a bar in one would end it, so both are replaced."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def code(text: object) -> str:
    """Give text as code."""
    content = str(text)
    fence = "``" if "`" in content else "`"
    return f"{fence}{content}{fence}" if content else ""


def prose(text: str) -> str:
    """Give a comment as prose: angle brackets outside code would be read as HTML, a star as emphasis."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"[<*\[\]]|(?<!\w)_|_(?!\w)", r"\\\g<0>", part) for part in parts
    )


def paragraphs(comment: str) -> str:
    """Give a comment of several paragraphs as prose."""
    return "\n\n".join(prose(" ".join(part.split())) for part in comment.split("\n\n"))


def anchor(heading: str) -> str:
    """Give the anchor that a heading has on GitHub."""
    return re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-")


def listed(texts: Iterable[str]) -> str:
    """Give texts in a row."""
    return ", ".join(texts)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")
