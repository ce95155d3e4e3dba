"""docs/reference/os-profiles.md: the rows of the profile table, a section for each part of a profile."""

from collections.abc import Iterator

from pydantic import BaseModel

from slipway.bootstrapper.os_profiles import OsProfile, ProfileTable
from tools.docgen.markdown import code, listed, page, table

_KEYS = ("distribution", "version")
INTRODUCTION = """\
What Slipway knows of an operating system, by `target.distribution` and `target.osVersion`. A version stands for all
that begin with it ("9" for 9.4 too); one with no row, or a part with no entry, is a refusal and never a guess. Rows of
your own: [add an OS profile](../how-to/add-an-os-profile.md)."""


def profile_page() -> str:
    """Give the page."""
    profiles = list(ProfileTable.shipped())
    plain = [name for name in OsProfile.model_fields if name not in _KEYS and not _is_part(name, profiles)]
    parts = [name for name in OsProfile.model_fields if name not in _KEYS and name not in plain]
    general = [({name: getattr(profile, name) for name in plain}, profile) for profile in profiles]
    sections = ["## In general\n\n" + _rows(general)]
    sections += [f"## {code(name)}\n\n" + _rows(list(_entries(name, profiles))) for name in parts]
    return page("OS profiles", "bootstrapper/slipway/bootstrapper/os_profiles/distributions", INTRODUCTION, *sections)


def _is_part(name: str, profiles: list[OsProfile]) -> bool:
    values = [getattr(profile, name) for profile in profiles]
    return any(
        isinstance(part, BaseModel) for value in values for part in (value if isinstance(value, tuple) else [value])
    )


def _entries(name: str, profiles: list[OsProfile]) -> Iterator[tuple[dict[str, object], OsProfile]]:
    for profile in profiles:
        value = getattr(profile, name)
        for part in value if isinstance(value, tuple) else [value]:
            if part is not None:
                yield dict(part), profile


def _rows(entries: list[tuple[dict[str, object], OsProfile]]) -> str:
    """Give a table with a row for each content, and all distributions that have it."""
    owners: dict[tuple[str, ...], dict[str, list[str]]] = {}
    heads = list(entries[0][0])
    for values, profile in entries:
        cells = tuple(_cell(values[name]) for name in heads)
        versions = owners.setdefault(cells, {}).setdefault(profile.distribution, [])
        versions.append(profile.version)
    return table(
        ["Distribution", *map(code, heads)],
        [[listed(_owner(*owner) for owner in owners_of.items()), *cells] for cells, owners_of in owners.items()],
    )


def _owner(distribution: str, versions: list[str]) -> str:
    return code(" ".join([distribution, *filter(None, versions)]))


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, tuple):
        return listed(code(part) for part in value)
    if isinstance(value, dict):
        return listed(code(f"{name}={part}") for name, part in value.items())
    return code(value) if value not in {None, ""} else ""
