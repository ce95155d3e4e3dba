"""Which formats have a stub. User data of other formats cannot be fetched."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from slipway.bootstrapper.delivery.stubs import cloud_config, ignition
from slipway.bootstrapper.delivery.stubs.source import MOST_BYTES, Source

__all__ = ["MOST_BYTES", "STUBS", "Stub"]


@dataclass(frozen=True, slots=True)
class Stub:
    """The stub of a format.

    Attributes:
        write: gives the user data that fetch a payload.
        takes: whether a payload can be fetched; what it refuses is text that is rendered on the machine.
    """

    write: Callable[[Source], bytes]
    takes: Callable[[bytes], bool] = lambda _payload: True


STUBS = {
    "cloud-config": Stub(cloud_config.cloud_config, cloud_config.can_be_fetched),
    "ignition/3.3.0": Stub(partial(ignition.ignition, version="3.3.0")),
    "ignition/3.4.0": Stub(partial(ignition.ignition, version="3.4.0")),
}
