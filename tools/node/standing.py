"""The one site that outlives the command that opened it, so that a person can look around: where it is written down."""

from __future__ import annotations

import contextlib
from pathlib import Path

from tools.node import site
from tools.node.site import Site
from tools.oracles import cache


def keep(place: Site) -> None:
    """Makes the site stay, and writes down which it is."""
    place.stay()
    _note().write_text(str(place.folder), encoding="utf-8")


def find() -> Site | None:
    """The site that stays, if it is still there."""
    with contextlib.suppress(FileNotFoundError):
        return site.reopened(Path(_note().read_text(encoding="utf-8")))
    return None


def end() -> bool:
    """Ends it; whether there was one."""
    place = find()
    if place:
        place.close()
    _note().unlink(missing_ok=True)
    return place is not None


def _note() -> Path:
    return cache.directory() / "standing-site"
