"""The time zone: /etc/localtime, as timedatectl would set it, without the bus that it needs."""

from collections.abc import Sequence

from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import needed
from slipway.contract.items import Item

ID = "linux.time-zone"


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Set the time zone. The step fails where the image does not have it in its database."""
    (item,) = items
    zones = needed(draft.profile.time_zones, item)
    call = ["zone", item.message.name, needed(zones.database, item), zones.name_file]
    text = script([call], programs=["time_zone"])
    draft.step(Rank.TIME_ZONE, "time-zone", source=item.message, by=ID, script=text)
