"""Names that every distribution's useradd and groupadd accept."""

import re

from slipway.bootstrapper.lowering.draft import CannotLower
from slipway.contract.items import Item

_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")


def checked_name(item: Item) -> str:
    """Give the name of a user or group.

    Raises:
        CannotLower: useradd or groupadd of some distribution would refuse it. Source: shadow's chkname.c.
    """
    name: str = item.message.name
    if not _NAME.fullmatch(name):
        raise CannotLower(
            item,
            "the name is not one that every distribution accepts",
            remedy="use up to 32 lower-case letters, digits, dashes and underscores; begin with a letter",
        )
    return name
