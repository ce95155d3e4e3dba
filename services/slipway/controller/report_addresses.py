"""The addresses to which machines report: made here, of the node gateway's keys, for those that can and say nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from slipway.bootstrapper.assembly.report_addresses import Addresses, AddressesOf
from slipway.controller.owner import Owner
from slipway.reports.capability import Capabilities, Kind, Target
from slipway.reports.names import BundleKey, NameInvalid

_ANY_BUNDLE = "0"


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
