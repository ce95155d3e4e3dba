"""Names that Windows has for the zones of the tz database.

The table lists only zones that the Unicode Common Locale Data Repository (windowsZones.xml) maps, and nothing is
inferred: two zones with the same offset today need not be the same tomorrow.
"""

from functools import cache
from importlib.resources import files
from typing import Any

import yaml


def windows_time_zone(name: str) -> str | None:
    """Give what tzutil calls a zone of the tz database, or None when nobody has recorded it."""
    return _table().get(name)


@cache
def _table() -> dict[str, str]:
    text = files(__package__).joinpath("time_zones.yaml").read_text(encoding="utf-8")
    tree: Any = yaml.safe_load(text)
    return {zone: windows for windows, zones in tree.items() for zone in zones.split()}
