"""Sections of docs/reference/performance.md that are measured by programs of their own, each replaced alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

PAGE = Path("docs/reference/performance.md")
CLUSTER = "## In a management cluster"
BOOT = "## From power to sentinel"
MANY = "## Many machines, and a restart"
REPORTS = "## Reports"
DOWNLOADS = "## Downloads from a gateway"
BOOTS = "## Boots by delivery and executor"


def with_section(page: str, text: str) -> str:
    """The page with a section, whose first line is its heading: in place of an older one, or at the end."""
    parts, heading = _parts(page), _heading(text)
    known = [_heading(part) for part in parts]
    if heading in known:
        parts[known.index(heading)] = text
    else:
        parts.append(text)
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def kept(page: str, before: str, headings: Iterable[str] = (CLUSTER, MANY, BOOT, REPORTS, DOWNLOADS, BOOTS)) -> str:
    """A page that was made anew, with those sections that the page before had."""
    parts = {_heading(part): part for part in _parts(before)}
    for heading in headings:
        if heading in parts:
            page = with_section(page, parts[heading])
    return page


def _parts(page: str) -> list[str]:
    """What comes before the first section, and each section."""
    return re.split(r"\n+(?=## )", page)


def _heading(text: str) -> str:
    return text.partition("\n")[0]
