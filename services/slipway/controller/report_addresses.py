"""The addresses to which machines report: made here, of the node gateway's keys, for those that can and say nothing.

Only machines that had to go without one have a condition about it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from slipway.bootstrapper.assembly.report_addresses import Addresses, AddressesOf
from slipway.controller.conditions import Condition, Type
from slipway.controller.data_secret import Record
from slipway.controller.facts import Facts
from slipway.controller.owner import Owner
from slipway.controller.reasons import Reason
from slipway.reports.capability import Capabilities, Kind, Target
from slipway.reports.names import BundleKey, NameInvalid

_ANY_BUNDLE = "0"

NO_ROOM = "with an address to report to the user data is too large: the machine reports to its console only"


@dataclass(frozen=True, slots=True)
class ReportAddresses:
    """Makes addresses.

    Attributes:
        base: where machines reach the node gateway: https://HOST:PORT.
        capabilities: signs.
        valid: how long an address is valid: at least as long as a machine may take until it has booted.
        clock: gives the time.
    """

    base: str
    capabilities: Capabilities
    valid: timedelta
    clock: Callable[[], datetime]

    def of(self, namespace: str, owner: Owner) -> AddressesOf | None:
        """Give what makes the addresses of a Machine.

        None for a MachinePool, whose machines share their user data while an address is for one, and for a name under
        which no report can be kept.
        """
        cluster, machine = owner.cluster_name, owner.name
        if owner.is_pool:
            return None
        try:
            BundleKey(namespace, cluster, machine, _ANY_BUNDLE)
        except NameInvalid:
            return None

        def addresses(bundle_id: str) -> Addresses:
            key = BundleKey(namespace, cluster, machine, bundle_id)
            expires = int((self.clock() + self.valid).timestamp())
            events, logs = (
                self.base + self.capabilities.address(Target(key, kind), expires=expires)
                for kind in (Kind.EVENTS, Kind.LOGS)
            )
            return Addresses(events, logs)

        return addresses


def address_conditions(facts: Facts, record: Record | None, conditions: Sequence[Condition]) -> list[Condition]:
    """Return the condition about a missing address, to add to the others of a config: none where nothing is missing.

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
