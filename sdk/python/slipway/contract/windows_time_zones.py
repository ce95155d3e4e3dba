"""Names that Windows has for the zones of the tz database. Windows PowerShell cannot translate them.

The table lists only zones that the Unicode Common Locale Data Repository (windowsZones.xml, 2025) maps, and nothing is
inferred: two zones with the same offset today need not be the same tomorrow.
"""

from functools import cache
from importlib.resources import files


def windows_time_zone(name: str) -> str | None:
    """Give what tzutil calls a zone of the tz database, or None where it has no name for it."""
    return _table().get(name)


@cache
def _table() -> dict[str, str]:
    text = files(__package__).joinpath("windows_time_zones.txt").read_text(encoding="ascii")
    rows = (line.split("\t") for line in text.splitlines())
    return {name: windows for windows, names in rows for name in names.split()}
