"""The condition about a machine's address for reports: only machines that had to go without it have one."""

from collections.abc import Sequence

from slipway.controller.conditions import Condition, Type
from slipway.controller.data_secret import Record
from slipway.controller.facts import Facts
from slipway.controller.reasons import Reason

NO_ROOM = "with an address to report to the user data is too large: the machine reports to its console only"


def address_conditions(facts: Facts, record: Record | None, conditions: Sequence[Condition]) -> list[Condition]:
    """Return the condition to add to the others of a config: none where nothing is missing.

    Args:
        facts: what is known of the config.
        record: what its data Secret holds; None for what `facts` has of it.
        conditions: the others.
    """
    if record is None and facts.secret is not None:
        record = Record.of_secret(facts.secret)
    if record is None or not record.no_room or any(other.type is Type.REPORT_ADDRESS for other in conditions):
        return []
    return [Condition(Type.REPORT_ADDRESS, "False", Reason.NO_ROOM_FOR_ADDRESS, NO_ROOM)]
