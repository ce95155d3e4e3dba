"""Windows' names of time zones. Windows PowerShell cannot translate them, so they are translated here.

Source: windowsZones of the Unicode CLDR, as of 2025.
"""

from functools import cache
from importlib.resources import files


@cache
def _by_name() -> dict[str, str]:
    text = files(__package__).joinpath("time_zones.txt").read_text(encoding="ascii")
    rows = (line.split("\t") for line in text.splitlines())
    return {name: windows for windows, names in rows for name in names.split()}


def windows_zone(name: str) -> str | None:
    """Give Windows' name of a zone of the tz database, or None where it has none."""
    return _by_name().get(name)
