"""Which file a path really names: one form for all ways to write it, as far as it is known before the machine boots.

Sources: FHS 3.0 (/var/run, /var/lock); proc(5); ostree's deployment layout; "Naming Files, Paths, and Namespaces" of
Windows (case, slashes, trailing dots and spaces, streams), and the junctions that Windows Setup makes.
"""

import posixpath
import re
from collections.abc import Mapping

from slipway.contract.grammars import is_windows_path

MOST_HOPS = 40
"""Links that a path may go through; the kernel follows no more, either. Source: path_resolution(7)."""

_LONGEST = 4096
"""Bytes of a path that the kernel still follows."""

_ALIASES = (
    (re.compile(r"/var/run(?=/|$)"), "/run"),
    (re.compile(r"/var/lock(?=/|$)"), "/run/lock"),
    (re.compile(r"/sysroot/ostree/deploy/[^/]+/var(?=/|$)"), "/var"),
    (re.compile(r"/sysroot/ostree/deploy/[^/]+/deploy/[^/]+(?=/|$)"), ""),
    (re.compile(r"/proc/[^/]+/(root|cwd)(?=/|$)|/proc/[^/]+/task/[^/]+/(root|cwd)(?=/|$)"), ""),
)
_WINDOWS_ALIASES = (
    (re.compile(r"c:/documents and settings(?=/|$)"), "c:/users"),
    (re.compile(r"c:/users/all users(?=/|$)"), "c:/programdata"),
    (re.compile(r"c:/programdata/application data(?=/|$)"), "c:/programdata"),
)


def canonical(path: str, links: Mapping[str, str] | None = None) -> str:
    """Give the one form of an absolute path.

    Args:
        path: of Linux or of Windows.
        links: targets by the canonical path of the link; they are followed wherever the path goes through one.
    """
    form = _windows(path) if is_windows_path(path) else _aliased(posixpath.normpath("/" + path.lstrip("/")), _ALIASES)
    return _followed(form, links) if links else form


def target_of(link: str, target: str) -> str:
    """Give the path that a link points to; a relative target is relative to the link's folder."""
    if is_windows_path(link):
        plain = target.replace("\\", "/")
        if re.match(r"[A-Za-z]:/", plain):
            return canonical(plain)
        drive, _, folder = canonical(link).partition("/")
        return canonical(
            f"{drive}/{plain}" if plain.startswith("/") else f"{drive}/{posixpath.dirname(folder)}/{plain}"
        )
    return canonical(posixpath.join(posixpath.dirname(link), target))


def _windows(path: str) -> str:
    drive, _, rest = path.replace("\\", "/").lower().partition("/")
    parts = [part if part in {".", ".."} else part.partition(":")[0].rstrip(" .") for part in rest.split("/")]
    return _aliased(drive + posixpath.normpath("/" + "/".join(parts).lstrip("/")), _WINDOWS_ALIASES)


def _aliased(path: str, aliases: tuple[tuple[re.Pattern[str], str], ...]) -> str:
    """Replace other names of folders, until none is left: one may stand behind another."""
    while True:
        for pattern, name in aliases:
            match = pattern.match(path)
            if match:
                path = name + path[match.end() :] or "/"
                break
        else:
            return path


def _followed(path: str, links: Mapping[str, str]) -> str:
    """Follow links on the way; a path that goes through too many is given as far as it was followed."""
    for _ in range(MOST_HOPS):
        place = 0
        while (place := path.find("/", place + 1)) >= 0 and path[:place] not in links:
            pass
        whole = place < 0
        above = path if whole else path[:place]
        if above not in links:
            return path
        path = canonical(links[above] + ("" if whole else path[place:]))
        if len(path) > _LONGEST:
            break
    return path
